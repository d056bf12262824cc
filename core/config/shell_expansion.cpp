// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/shell_expansion.h"

#include "config/integer_arithmetic.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

constexpr std::size_t maxExpandedBytes = std::size_t{256} << 10;
constexpr std::size_t pieceCost = 16; ///< a piece takes more memory than its text

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Grows a list of fields by pieces that blanks may or may not split.
class FieldBuilder
{
public:
    explicit FieldBuilder(std::vector<ShellField>& fields)
        : m_fields(fields)
    {
    }

    void addWhole(const ShellPiece& piece)
    {
        m_current.pieces.push_back(piece);
        m_isOpen = true;
    }

    void addSplit(const ShellPiece& piece)
    {
        const bool isLiteral = piece.end - piece.begin == piece.text.size() && piece.isKnown;
        if (!isLiteral) {
            const bool isOnlyBlank = std::all_of(piece.text.begin(), piece.text.end(), isBlank);
            return isOnlyBlank ? close() : addWhole(piece);
        }
        for (std::size_t at = 0; at < piece.text.size();) {
            if (isBlank(piece.text[at])) {
                close();
                ++at;
                continue;
            }
            std::size_t end = at;
            while (end < piece.text.size() && !isBlank(piece.text[end])) {
                ++end;
            }
            ShellPiece part = piece;
            part.text = piece.text.substr(at, end - at);
            part.begin = piece.begin + at;
            part.end = piece.begin + end;
            addWhole(part);
            at = end;
        }
    }

    void close()
    {
        if (m_isOpen) {
            // Empty pieces stand for quotes; beside others they say nothing.
            auto& pieces = m_current.pieces;
            if (std::any_of(pieces.begin(), pieces.end(),
                            [](const ShellPiece& piece) { return !piece.text.empty(); })) {
                std::erase_if(pieces, [](const ShellPiece& piece) { return piece.text.empty(); });
            } else {
                pieces.resize(1);
            }
            m_fields.push_back(std::move(m_current));
        }
        m_current = {};
        m_isOpen = false;
    }

private:
    std::vector<ShellField>& m_fields;
    ShellField m_current;
    bool m_isOpen = false;
};

} // namespace

std::string textOf(const ShellValue& value)
{
    std::string text;
    for (const ShellPiece& piece : value) {
        text += piece.text;
    }
    return text;
}

bool isKnown(const ShellValue& value)
{
    return std::all_of(value.begin(), value.end(), [](const ShellPiece& piece) { return piece.isKnown; });
}

ShellValue ShellExpander::through(const std::string& name, const ShellValue& value)
{
    ShellValue result = value;
    for (ShellPiece& piece : result) {
        m_bytes += piece.text.size() + pieceCost;
        if (std::find(piece.via.begin(), piece.via.end(), name) == piece.via.end()) {
            piece.via.push_back(name);
        }
    }
    return result;
}

/// The values an array parameter stands for; one for other parameters.
std::vector<ShellValue> ShellExpander::items(const ShellPart& part)
{
    const bool isWhole = part.index == "@" || part.index == "*" || part.text == "@" || part.text == "*";
    const auto variable = m_variables.find(part.text);
    if (!isWhole || variable == m_variables.end() || !part.operation.empty() || m_bytes > maxExpandedBytes) {
        return {parameter(part)};
    }
    std::vector<ShellValue> result;
    for (const ShellValue& item : variable->second.items) {
        result.push_back(through(part.text, item));
    }
    return result;
}

ShellValue ShellExpander::parameter(const ShellPart& part)
{
    const auto variable = m_variables.find(part.text);
    const bool isSet = variable != m_variables.end();
    const bool hasDefault
        = part.operation == ":-" || part.operation == "-" || part.operation == ":=" || part.operation == "=";
    if (m_bytes > maxExpandedBytes) {
        return {unknown(part)};
    }
    if (part.operation == "#" && isSet && (part.index == "@" || part.index == "*")) {
        return {{std::to_string(variable->second.items.size()), part.begin, part.end, part.quote, true, {part.text}}};
    }
    if (!isSet && hasDefault) {
        return value(part.argument);
    }
    if (!isSet || (!part.operation.empty() && !hasDefault && part.operation != ":?")) {
        return {unknown(part)};
    }
    const auto& all = variable->second.items;
    const std::size_t index = static_cast<std::size_t>(parseInteger(part.index).value_or(0));
    if (index >= all.size()) {
        return variable->second.isArray && part.index.empty() ? ShellValue{} : ShellValue{unknown(part)};
    }
    ShellValue result = through(part.text, all[index]);
    if (result.size() == 1 && result[0].text.find_first_of(" \t\n") == std::string::npos) {
        result[0].siteBegin = part.begin;
        result[0].siteEnd = part.end;
    }
    // A variable set to nothing gives way to the default.
    if (hasDefault && part.operation.front() == ':' && textOf(result).empty()) {
        return value(part.argument);
    }
    return result;
}

/// $(( … )): variables are put in with and without their $.
ShellValue ShellExpander::arithmetic(const ShellPart& part)
{
    std::string expression;
    ShellPiece piece = unknown(part);
    const std::string& text = part.text;
    for (std::size_t at = 0; at < text.size();) {
        const auto isName = [&](std::size_t place) {
            const char c = place < text.size() ? text[place] : '\0';
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
        };
        if (text[at] == '$' || text[at] == '{' || text[at] == '}') {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (isName(end)) {
            ++end;
        }
        if (end == at || (text[at] >= '0' && text[at] <= '9')) {
            end = std::max(end, at + 1);
            expression += text.substr(at, end - at);
        } else {
            const std::string name = text.substr(at, end - at);
            const auto variable = m_variables.find(name);
            const ShellValue value = variable != m_variables.end() && !variable->second.items.empty()
                ? through(name, variable->second.items.front())
                : ShellValue{};
            if (value.empty() || !isKnown(value)) {
                return {std::move(piece)};
            }
            expression += "(" + textOf(value) + ")";
            for (const ShellPiece& source : value) {
                piece.via.insert(piece.via.end(), source.via.begin(), source.via.end());
            }
        }
        at = end;
    }
    if (const auto number = evaluateIntegers(expression, false)) {
        piece.text = std::to_string(*number);
        piece.isKnown = true;
    }
    return {std::move(piece)};
}

ShellValue ShellExpander::value(const std::vector<ShellPart>& parts, std::size_t from)
{
    ShellValue result;
    for (std::size_t i = from; i < parts.size(); ++i) {
        const ShellPart& part = parts[i];
        ShellValue more;
        switch (part.kind) {
        case ShellPart::Kind::Literal:
            more = {{part.text, part.begin, part.end, part.quote, true}};
            break;
        case ShellPart::Kind::Parameter:
            for (const ShellValue& item : items(part)) {
                if (!more.empty()) {
                    more.push_back({" ", part.end, part.end, part.quote, true});
                }
                more.insert(more.end(), item.begin(), item.end());
            }
            break;
        case ShellPart::Kind::Arithmetic:
            more = arithmetic(part);
            break;
        case ShellPart::Kind::Command:
            more = {unknown(part)};
            break;
        }
        result.insert(result.end(), more.begin(), more.end());
    }
    return result;
}

void ShellExpander::fields(const ShellWord& word, std::vector<ShellField>& result)
{
    FieldBuilder builder(result);
    for (const ShellPart& part : word.parts) {
        if (part.kind != ShellPart::Kind::Parameter) {
            for (const ShellPiece& piece : value({part})) {
                builder.addWhole(piece);
            }
            continue;
        }
        bool isFirst = true;
        for (const ShellValue& item : items(part)) {
            if (!isFirst) {
                builder.close();
            }
            isFirst = false;
            for (const ShellPiece& piece : item) {
                if (part.quote == '\0') {
                    builder.addSplit(piece);
                } else {
                    builder.addWhole(piece);
                }
            }
        }
    }
    builder.close();
}

std::vector<ShellField> splitAgain(const std::vector<ShellField>& fields, std::size_t from)
{
    std::vector<ShellField> result;
    FieldBuilder builder(result);
    for (std::size_t i = from; i < fields.size(); ++i) {
        for (const ShellPiece& piece : fields[i].pieces) {
            builder.addSplit(piece);
        }
        builder.close();
    }
    std::erase_if(result, [](const ShellField& field) { return field.text() == "\\"; });
    return result;
}

std::string ShellField::text() const
{
    return textOf(pieces);
}

bool ShellField::isKnown() const
{
    return headroom::isKnown(pieces);
}

bool ShellField::isPlaced() const
{
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        if (pieces[i].begin != pieces[i - 1].end || pieces[i].quote != pieces[i - 1].quote) {
            return false;
        }
    }
    return !pieces.empty();
}

std::vector<std::string> ShellField::via() const
{
    std::vector<std::string> result;
    for (const ShellPiece& piece : pieces) {
        for (const std::string& name : piece.via) {
            if (std::find(result.begin(), result.end(), name) == result.end()) {
                result.push_back(name);
            }
        }
    }
    return result;
}

} // namespace headroom
