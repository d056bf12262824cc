// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/flag_splice.h"

#include "config/key_path.h"
#include "units/number.h"

#include <algorithm>
#include <optional>

namespace headroom {

namespace {

bool isBlank(char c)
{
    return c == ' ' || c == '\t';
}

std::size_t beginOfLine(const std::string& bytes, std::size_t at)
{
    return at == 0 ? 0 : bytes.rfind('\n', at - 1) + 1;
}

/// Before the line end, LF or CRLF.
std::size_t endOfLine(const std::string& bytes, std::size_t at)
{
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    return end > at && bytes[end - 1] == '\r' ? end - 1 : end;
}

std::size_t skipBlanks(const std::string& bytes, std::size_t at)
{
    while (at < bytes.size() && isBlank(bytes[at])) {
        ++at;
    }
    return at;
}

/// Only blanks are in front of it on its line.
bool isFirstOnLine(const std::string& bytes, std::size_t at)
{
    return skipBlanks(bytes, beginOfLine(bytes, at)) == at;
}

/// What follows on the line: nothing, a backslash that continues it, or something else.
enum class Rest : std::uint8_t { Nothing, Continuation, Other };

Rest restOfLine(const std::string& bytes, std::size_t at)
{
    const std::size_t next = skipBlanks(bytes, at);
    const std::size_t end = endOfLine(bytes, at);
    if (next >= end) {
        return Rest::Nothing;
    }
    return bytes[next] == '\\' && next + 1 == end ? Rest::Continuation
        : bytes[next] == '#'                      ? Rest::Nothing
                                                  : Rest::Other;
}

bool isPlainWord(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("_./:=+,@%^-").find(c) != std::string_view::npos;
    });
}

/// `value` as it has to be written where a text in these quotes stands; nothing when it can't be.
std::optional<std::string> shellText(const std::string& value, char quote)
{
    if (value.find_first_of("\n\r") != std::string::npos) {
        return std::nullopt;
    }
    if (quote == '"') {
        return value.find_first_of("\"$`\\") == std::string::npos ? std::optional(value) : std::nullopt;
    }
    if (isPlainWord(value)) {
        return value;
    }
    const bool hasQuote = value.find('\'') != std::string::npos;
    return hasQuote ? std::nullopt : std::optional(quote == '\'' ? value : "'" + value + "'");
}

tl::unexpected<Problem> cannotBeWritten(const ConfigEdit& edit, const std::string& name, std::int64_t line)
{
    return failure(
        Text{HEADROOM_TR("core", "“%1” can't be set to “%2” within the quotes that are there"), {edit.key, edit.value}},
        name, line);
}

/// Python programs that take True and False as words keep doing so.
std::string inWordsOf(const std::string& old, const std::string& value)
{
    const auto flag = parseBool(value);
    const bool isCapital = old == "True" || old == "False";
    return flag && isCapital ? (*flag ? "True" : "False") : value;
}

/// A variable for all that the script starts: below the comments that it begins with, among which are Slurm's options.
Result<std::string> addedVariable(const std::string& bytes, const std::string& name, const ConfigEdit& edit)
{
    std::size_t at = 0;
    while (at < bytes.size() && bytes[at] == '#') {
        at = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    }
    const std::size_t lineEnd = bytes.find('\n');
    const bool isCrLf = lineEnd != std::string::npos && lineEnd > 0 && bytes[lineEnd - 1] == '\r';
    const std::string newLine = isCrLf ? "\r\n" : "\n";
    const auto value = shellText(edit.value, '\0');
    const bool isOpenLine = at > 0 && bytes[at - 1] != '\n';
    return value && !edit.items ? Result<std::string>(bytes.substr(0, at) + (isOpenLine ? newLine : "") + "export "
                                                      + edit.key + "=" + *value + newLine + bytes.substr(at))
                                : cannotBeWritten(edit, name, 0);
}

} // namespace

bool isSharedWithOthers(const FlagValue& value, std::span<const FlagValue> all)
{
    const auto isSource = [&](const std::string& name) {
        return std::find(value.sources.begin(), value.sources.end(), name) != value.sources.end();
    };
    return std::any_of(all.begin(), all.end(), [&](const FlagValue& other) {
        const bool isSame = other.begin == value.begin && !isSource(other.key);
        return other.key != value.key && std::any_of(other.sources.begin(), other.sources.end(), isSource)
            && (isSame || (other.begin != value.begin && parseReal(other.text)));
    });
}

std::vector<FlagValue> FlagSyntax::allValues() const
{
    std::vector<FlagValue> all;
    for (const FlagPlace& place : places) {
        all.insert(all.end(), place.settings.begin(), place.settings.end());
    }
    return all;
}

std::pair<std::size_t, std::size_t> extentOf(const std::string& bytes, const FlagPlace& flag)
{
    const std::size_t end = flag.end();
    const std::size_t lineBegin = beginOfLine(bytes, flag.begin);
    const Rest rest = restOfLine(bytes, end);
    if (isFirstOnLine(bytes, flag.begin) && rest != Rest::Other) {
        const bool isContinued = rest == Rest::Continuation;
        const std::size_t before = lineBegin > 1 && bytes[lineBegin - 2] == '\r' ? lineBegin - 2
            : lineBegin > 0                                                      ? lineBegin - 1
                                                                                 : 0;
        const bool endsCommand = !isContinued && before > 0 && bytes[before - 1] == '\\';
        if (!endsCommand) {
            const std::size_t next = bytes.find('\n', end);
            return {lineBegin, next == std::string::npos ? bytes.size() : next + 1};
        }
        // The line in front continued to this one.
        std::size_t begin = before - 1;
        while (begin > 0 && isBlank(bytes[begin - 1])) {
            --begin;
        }
        return {begin, end};
    }
    if (isFirstOnLine(bytes, flag.begin)) {
        return {flag.begin, skipBlanks(bytes, end)};
    }
    std::size_t begin = flag.begin;
    while (begin > 0 && isBlank(bytes[begin - 1])) {
        --begin;
    }
    return {begin, end};
}

ConfigEdit FlagSyntax::normalised(const ConfigEdit& edit) const
{
    if (!edit.items || edit.items->size() != 1) {
        return edit;
    }
    return {edit.key, edit.items->front()};
}

bool FlagSyntax::isSaidByAbsence(std::string_view text) const
{
    return parseBool(text) == false || text == "null";
}

/// Switches of this file are written with a word, --bf16 True, not by being there.
bool FlagSyntax::saysTrueInWords() const
{
    return std::any_of(places.begin(), places.end(), [](const FlagPlace& place) {
        return !place.isBare && !place.isVariable && place.settings.size() == 1
            && (place.settings[0].text == "True" || place.settings[0].text == "False");
    });
}

Result<std::string> FlagSyntax::replaced(const std::string& bytes, const std::string& name, const ConfigEdit& edit,
                                         const FlagPlace& place, const FlagValue& setting) const
{
    if (setting.begin == FlagPlace::nowhere || (place.isBare && !place.isPlaced)) {
        return failure(
            Text{HEADROOM_TR("core", "“%1” is put together from several places, so it is not changed"), {edit.key}},
            name, setting.line);
    }
    const char quote = setting.style == ScalarStyle::DoubleQuoted ? '"'
        : setting.style == ScalarStyle::SingleQuoted              ? '\''
                                                                  : '\0';
    if (place.isBare) {
        if (parseBool(edit.value) == false) {
            const auto [begin, end] = extentOf(bytes, place);
            return bytes.substr(0, begin) + bytes.substr(end);
        }
        const auto text = shellText(edit.value, place.quote);
        return text ? Result<std::string>(bytes.substr(0, place.nameEnd) + " " + *text + bytes.substr(place.nameEnd))
                    : cannotBeWritten(edit, name, setting.line);
    }
    if (edit.value == "null" && place.key.starts_with("-")) {
        // Nothing is said by leaving the flag out, with its value.
        const bool isWhole
            = place.isPlaced && place.settings.size() == 1 && setting.sources.empty() && setting.begin >= place.begin;
        if (!isWhole) {
            return cannotBeWritten(edit, name, setting.line);
        }
        const auto [begin, end] = extentOf(bytes, place);
        return bytes.substr(0, begin) + bytes.substr(end);
    }
    const auto text = shellText(inWordsOf(setting.text, edit.value), quote);
    if (!text) {
        return cannotBeWritten(edit, name, setting.line);
    }
    if (setting.siteEnd > setting.siteBegin && isSharedWithOthers(setting, allValues())) {
        // The variable decides something else too, so the value stands here from now on.
        const auto plain = shellText(inWordsOf(setting.text, edit.value), '\0');
        return plain ? Result<std::string>(bytes.substr(0, setting.siteBegin) + *plain + bytes.substr(setting.siteEnd))
                     : cannotBeWritten(edit, name, setting.line);
    }
    return bytes.substr(0, setting.begin) + *text + bytes.substr(setting.end);
}

/// A list in place of the flag's values, which must stand in one row.
Result<std::string> FlagSyntax::replacedAll(const std::string& bytes, const std::string& name, const ConfigEdit& edit,
                                            const FlagPlace& place) const
{
    const std::size_t begin = place.settings.front().begin, end = place.settings.back().end;
    const bool isRow = begin != FlagPlace::nowhere && end != FlagPlace::nowhere && begin <= end && !place.isBare
        && bytes.substr(begin, end - begin).find_first_of("\n\"'#$") == std::string::npos;
    std::string text;
    for (const std::string& item : edit.items ? *edit.items : std::vector{edit.value}) {
        const auto word = shellText(item, '\0');
        if (!word) {
            return cannotBeWritten({edit.key, item}, name, place.settings.front().line);
        }
        text += (text.empty() ? "" : " ") + *word;
    }
    if (!isRow) {
        return failure(
            Text{HEADROOM_TR("core", "the values of “%1” don't stand in one row, so they are not changed"), {edit.key}},
            name, place.settings.front().line);
    }
    return bytes.substr(0, begin) + text + bytes.substr(end);
}

/// Behind the last flag: on a line of its own where that one has one, otherwise beside it.
Result<std::string> FlagSyntax::added(const std::string& bytes, const std::string& name, const ConfigEdit& edit) const
{
    if (edit.isEnvironment) {
        return addedVariable(bytes, name, edit);
    }
    const FlagPlace* sibling = nullptr;
    for (const FlagPlace& place : places) {
        const bool isWhole = place.isBare
            || (!place.settings.empty() && place.settings.back().end != FlagPlace::nowhere
                && place.settings.back().begin >= place.begin && place.settings.back().sources.empty());
        if (!place.isVariable && place.isPlaced && isWhole && place.key.starts_with("--")) {
            sibling = &place;
        }
    }
    if (sibling == nullptr || !edit.key.starts_with("-")) {
        return failure(Text{HEADROOM_TR("core", "there is no place for “%1” in this script"), {edit.key}}, name);
    }
    const bool isSwitch = !edit.items && parseBool(edit.value) == true && !saysTrueInWords();
    std::string text = edit.key;
    const std::vector<std::string> values = edit.items ? *edit.items : std::vector{edit.value};
    for (const std::string& value : isSwitch ? std::vector<std::string>{} : values) {
        const auto word = shellText(saysTrueInWords() ? inWordsOf("True", value) : value, sibling->quote);
        if (!word) {
            return cannotBeWritten(edit, name, 0);
        }
        text += (sibling->hasEquals && values.size() == 1 ? "=" : " ") + *word;
    }
    const std::size_t end = sibling->end();
    const std::size_t closing
        = end < bytes.size() && (bytes[end] == '"' || bytes[end] == '\'') && sibling->quote == '\0' ? end + 1 : end;
    const Rest rest = restOfLine(bytes, closing);
    if (!isFirstOnLine(bytes, sibling->begin) || rest == Rest::Other) {
        return bytes.substr(0, closing) + " " + text + bytes.substr(closing);
    }
    const std::size_t lineBegin = beginOfLine(bytes, sibling->begin);
    const std::size_t lineEnd = endOfLine(bytes, closing);
    const std::string newLine = lineEnd < bytes.size() && bytes[lineEnd] == '\r' ? "\r\n" : "\n";
    const std::string indent = bytes.substr(lineBegin, sibling->begin - lineBegin);
    // A line that is continued is followed by one that ends as it does; the last line of a command gets a backslash.
    const std::size_t before = lineBegin > 0 ? endOfLine(bytes, beginOfLine(bytes, lineBegin - 1)) : 0;
    const bool isLast = rest == Rest::Nothing && before > 0 && bytes[before - 1] == '\\';
    if (rest == Rest::Continuation) {
        const std::string ending = bytes.substr(closing, lineEnd - closing);
        return bytes.substr(0, lineEnd) + newLine + indent + text + ending + bytes.substr(lineEnd);
    }
    return bytes.substr(0, isLast ? closing : lineEnd) + (isLast ? " \\" : "") + newLine + indent + text
        + bytes.substr(isLast ? closing : lineEnd);
}

Result<std::string> FlagSyntax::spliced(const std::string& bytes, const std::string& name, const ConfigEdit& edit) const
{
    for (const FlagPlace& place : places) {
        for (const FlagValue& setting : place.settings) {
            if (setting.key == edit.key && !edit.items) {
                return replaced(bytes, name, edit, place, setting);
            }
        }
        if (place.key == edit.key && !place.settings.empty()) {
            return replacedAll(bytes, name, edit, place);
        }
    }
    return added(bytes, name, edit);
}

} // namespace headroom
