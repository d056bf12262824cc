// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/scalar_text.h"

#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {

namespace {

enum class Meaning : std::uint8_t { Text, Null, Bool, Number, Other };

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::string_view withoutSign(std::string_view text)
{
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
        text.remove_prefix(1);
    }
    return text;
}

/// What YAML 1.1 and 1.2 readers between them make of a plain scalar.
Meaning meaningOf(std::string_view text)
{
    if (isNullText(text)) {
        return Meaning::Null;
    }
    if (parseBool(text)) {
        return Meaning::Bool;
    }
    if (parseInteger(text) || parseReal(text)) {
        return Meaning::Number;
    }
    // Base 60 (1:30), dates, numbers too large for us, .inf, and the special keys.
    const std::string_view digits = withoutSign(text);
    const bool isNumeric = !digits.empty() && isDigit(digits.front())
        && digits.find_first_not_of("0123456789.:_-+eETZtz ") == std::string_view::npos;
    const bool isSpecial = digits == ".inf" || digits == ".Inf" || digits == ".INF" || digits == ".nan"
        || digits == ".NaN" || digits == ".NAN" || text == "=" || text == "<<";
    return isNumeric || isSpecial ? Meaning::Other : Meaning::Text;
}

/// One spelling that every reader takes for the same number, bool or null.
bool isUniversal(std::string_view text)
{
    for (const std::string_view word :
         {"true", "false", "True", "False", "TRUE", "FALSE", "null", "Null", "NULL", "~"}) {
        if (text == word) {
            return true;
        }
    }
    const std::string_view digits = withoutSign(text);
    const bool hasBase
        = digits.size() > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E';
    return (parseReal(text) || parseInteger(text)) && !hasBase && text.find('_') == std::string_view::npos;
}

bool isJsonLiteral(std::string_view text)
{
    // The last three are Python's json.
    for (const std::string_view word : {"true", "false", "null", "Infinity", "-Infinity", "NaN"}) {
        if (text == word) {
            return true;
        }
    }
    return isUniversal(text) && !text.empty()
        && (isDigit(text.front()) || (text.size() > 1 && text.front() == '-' && isDigit(text[1])))
        && isDigit(text.back());
}

bool hasControl(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; });
}

/// The parser would read the text back as this one scalar.
bool isPlainSafe(std::string_view text, bool isFlow)
{
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':' || hasControl(text)
        || text.starts_with("---") || text.starts_with("...") || text.find(": ") != std::string_view::npos
        || text.find(" #") != std::string_view::npos) {
        return false;
    }
    constexpr std::string_view indicators = ",[]{}#&*!|>'\"%@`";
    if (indicators.find(text.front()) != std::string_view::npos) {
        return false;
    }
    // - ? : begin text unless a blank follows, and : and ? mean more in brackets.
    if ((text.front() == '-' || text.front() == '?' || text.front() == ':') && (text.size() == 1 || text[1] == ' ')) {
        return false;
    }
    return !isFlow || text.find_first_of(",[]{}:?") == std::string_view::npos;
}

std::string singleQuoted(std::string_view value)
{
    std::string result = "'";
    for (const char c : value) {
        result += c;
        if (c == '\'') {
            result += c;
        }
    }
    return result += '\'';
}

/// Escapes that YAML and JSON share.
std::string doubleQuoted(std::string_view value)
{
    std::string result = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (c == '\t') {
            result += "\\t";
        } else if (hasControl({&c, 1})) {
            result += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            result += c;
        }
    }
    return result += '"';
}

/// True is no JSON, but some frameworks read files that are JSON but for that; other words need quotes.
std::string jsonText(std::string_view value, const ScalarPlace& place)
{
    const auto flag = parseBool(value);
    if (!flag || !isUniversal(value)) {
        return doubleQuoted(value);
    }
    const bool isPythonic
        = place.oldStyle == ScalarStyle::Plain && parseBool(place.oldText) && !isJsonLiteral(place.oldText);
    return isPythonic ? std::string(value) : *flag ? "true" : "false";
}

/// A flag in the words that the file has for it: True beside False, yes beside no.
std::string_view inWordsThere(std::string_view value, const ScalarPlace& place)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> pairs{{{"True", "False"},
                                                                                  {"TRUE", "FALSE"},
                                                                                  {"yes", "no"},
                                                                                  {"Yes", "No"},
                                                                                  {"YES", "NO"},
                                                                                  {"on", "off"},
                                                                                  {"On", "Off"}}};
    const bool isFlag = value == "true" || value == "false";
    for (const auto& [on, off] : pairs) {
        if (isFlag && place.oldStyle == ScalarStyle::Plain && (place.oldText == on || place.oldText == off)) {
            return value == "true" ? on : off;
        }
    }
    return value;
}

} // namespace

bool isNullText(std::string_view text)
{
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

bool isNull(const Setting& setting)
{
    return setting.style == ScalarStyle::Empty || (setting.style == ScalarStyle::Plain && isNullText(setting.text));
}

bool meansTheSame(std::string_view a, std::string_view b)
{
    if (a == b || (isNullText(a) && isNullText(b))) {
        return true;
    }
    if (const auto first = parseBool(a)) {
        return first == parseBool(b);
    }
    if (const auto first = parseInteger(a)) {
        return first == parseInteger(b);
    }
    const auto first = parseReal(a);
    return first && first == parseReal(b);
}

std::string writeScalar(std::string_view given, const ScalarPlace& place)
{
    const std::string_view value = inWordsThere(given, place);
    const bool isJsonTyped = place.isJson && isJsonLiteral(value);
    if (place.oldStyle == ScalarStyle::SingleQuoted && !hasControl(value)) {
        return singleQuoted(value);
    }
    if (place.oldStyle == ScalarStyle::DoubleQuoted || place.oldStyle == ScalarStyle::SingleQuoted) {
        // "auto" becomes a number; "2" was a number in quotes and stays one.
        const bool wasWord = meaningOf(place.oldText) == Meaning::Text;
        return isJsonTyped && wasWord ? std::string(value) : doubleQuoted(value);
    }
    if (place.isJson) {
        return isJsonTyped ? std::string(value) : jsonText(value, place);
    }
    const Meaning meaning = meaningOf(value);
    const bool keepsType = place.oldStyle == ScalarStyle::Plain && meaning == meaningOf(place.oldText);
    const bool isUnmistakable = meaning == Meaning::Text || isUniversal(value) || keepsType;
    return isUnmistakable && isPlainSafe(value, place.isFlow) ? std::string(value) : doubleQuoted(value);
}

std::string writeKey(std::string_view name, const ScalarPlace& place)
{
    return !place.isJson && meaningOf(name) == Meaning::Text && isPlainSafe(name, place.isFlow) ? std::string(name)
                                                                                                : doubleQuoted(name);
}

} // namespace headroom
