// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/python_splice.h"

#include "config/key_path.h"
#include "config/scalar_text.h"
#include "units/number.h"

#include <algorithm>
#include <cctype>

namespace headroom {

namespace {

std::string quoted(const std::string& value, char quote)
{
    std::string result(1, quote);
    for (const char c : value) {
        result += c == quote || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
    return result + quote;
}

bool isPythonNumber(const std::string& value)
{
    const bool hasBase = value.size() > 1 && value[0] == '0' && std::isdigit(static_cast<unsigned char>(value[1])) != 0;
    return (parseInteger(value) || parseReal(value)) && !hasBase && value.find('n') == std::string::npos;
}

/// `value` in Python's notation; in quotes where a text stood.
std::string pythonText(const std::string& value, ScalarStyle oldStyle, char quote)
{
    if (oldStyle == ScalarStyle::DoubleQuoted || oldStyle == ScalarStyle::SingleQuoted) {
        return quoted(value, oldStyle == ScalarStyle::DoubleQuoted ? '"' : '\'');
    }
    if (const auto flag = parseBool(value)) {
        return *flag ? "True" : "False";
    }
    if (!value.empty() && isNullText(value)) {
        return "None";
    }
    return isPythonNumber(value) ? value : quoted(value, quote);
}

std::size_t beginOfLine(const std::string& bytes, std::size_t at)
{
    return at == 0 ? 0 : bytes.rfind('\n', at - 1) + 1;
}

} // namespace

Result<std::string> PythonSyntax::spliced(const std::string& bytes, const std::string& name,
                                          const ConfigEdit& edit) const
{
    const auto found
        = std::find_if(values.begin(), values.end(), [&](const FlagValue& value) { return value.key == edit.key; });
    const bool isList = std::any_of(values.begin(), values.end(),
                                    [&](const FlagValue& value) { return isBelow(value.key, edit.key); });
    if (edit.items || (found == values.end() && isList)) {
        return failure(Text{HEADROOM_TR("core", "“%1” is a list or an object; it is changed item by item"), {edit.key}},
                       name, found != values.end() ? found->line : 0);
    }
    if (found == values.end()) {
        return added(bytes, name, edit);
    }
    if (isList) {
        return failure(Text{HEADROOM_TR("core", "“%1” is an object; its values are changed one by one"), {edit.key}},
                       name, found->line);
    }
    const bool isAtSite = found->siteEnd > found->siteBegin && isSharedWithOthers(*found, values);
    const std::size_t begin = isAtSite ? found->siteBegin : found->begin;
    const std::size_t end = isAtSite ? found->siteEnd : found->end;
    return bytes.substr(0, begin) + pythonText(edit.value, found->style, '\'') + bytes.substr(end);
}

/// As a statement of its own behind the last one that sets an attribute.
std::string PythonSyntax::attributeAdded(const std::string& bytes, const ConfigEdit& edit) const
{
    const std::size_t lineBegin = beginOfLine(bytes, object.lastBegin);
    const std::string indent = bytes.substr(lineBegin, object.lastBegin - lineBegin);
    const std::size_t lineEnd = std::min(bytes.find('\n', object.lastEnd), bytes.size());
    const bool isCrLf = lineEnd > 0 && bytes[lineEnd - 1] == '\r';
    const std::size_t at = isCrLf ? lineEnd - 1 : lineEnd;
    return bytes.substr(0, at) + (isCrLf ? "\r\n" : "\n") + indent + object.name + "." + edit.key + " = "
        + pythonText(edit.value, ScalarStyle::Empty, '"') + bytes.substr(at);
}

/// Behind the last entry of the container it belongs to.
Result<std::string> PythonSyntax::added(const std::string& bytes, const std::string& name, const ConfigEdit& edit) const
{
    const auto steps = parseKey(edit.key);
    const std::string path = steps && !steps->empty() ? formatKey({steps->begin(), steps->end() - 1}) : std::string{};
    const auto container = std::find_if(containers.begin(), containers.end(), [&](const PythonContainer& candidate) {
        return steps && candidate.path == path;
    });
    const bool isAttribute = container == containers.end() && !object.name.empty() && steps && steps->size() > 1
        && std::ranges::none_of(*steps, [](const KeyStep& step) { return step.index.has_value(); });
    if (isAttribute) {
        return attributeAdded(bytes, edit);
    }
    if (container == containers.end() || steps->empty() || steps->back().index) {
        return failure(Text{HEADROOM_TR("core", "there is no place for “%1” in this file"), {edit.key}}, name);
    }
    const std::string& key = steps->back().name;
    const std::string value = pythonText(edit.value, ScalarStyle::Empty, container->quote == '"' ? '"' : '\'');
    const std::string entry
        = container->isDict ? quoted(key, container->quote == '"' ? '"' : '\'') + ": " + value : key + "=" + value;
    if (container->lastEnd == 0) {
        const std::size_t at = container->begin + 1;
        const bool isEmpty = container->end == at;
        return bytes.substr(0, at) + entry + (isEmpty ? "" : ", ") + bytes.substr(at);
    }
    const std::size_t last = container->lastEnd;
    const std::size_t lineBegin = beginOfLine(bytes, container->lastBegin);
    const std::string indent = bytes.substr(lineBegin, container->lastBegin - lineBegin);
    const bool isOnOwnLine = indent.find_first_not_of(" \t") == std::string::npos && lineBegin > container->begin;
    if (!isOnOwnLine) {
        return bytes.substr(0, last) + ", " + entry + bytes.substr(last);
    }
    const bool isCrLf = lineBegin > 1 && bytes[lineBegin - 2] == '\r';
    const std::string newLine = isCrLf ? "\r\n" : "\n";
    return bytes.substr(0, last) + "," + newLine + indent + entry + bytes.substr(last);
}

} // namespace headroom
