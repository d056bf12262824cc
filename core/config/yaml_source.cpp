// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/yaml_source.h"

namespace headroom {

namespace {

bool isBlank(char c)
{
    return c == ' ' || c == '\t';
}

bool isSpace(char c)
{
    return isBlank(c) || c == '\n' || c == '\r';
}

bool isFlowIndicator(char c)
{
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

} // namespace

std::size_t YamlSource::skipBlanks(std::size_t position) const
{
    while (position < size() && isBlank(m_text[position])) {
        ++position;
    }
    return position;
}

std::size_t YamlSource::skipTrivia(std::size_t position) const
{
    while (position < size()) {
        if (isSpace(m_text[position])) {
            ++position;
        } else if (m_text[position] == '#' && (position == 0 || isSpace(m_text[position - 1]))) {
            position = endOfLine(position);
        } else {
            break;
        }
    }
    return position;
}

std::size_t YamlSource::skipProperties(std::size_t position, std::size_t& propertyEnd) const
{
    propertyEnd = position;
    while (at(position) == '&' || at(position) == '!') {
        while (position < size() && !isSpace(m_text[position]) && !isFlowIndicator(m_text[position])) {
            ++position;
        }
        propertyEnd = position;
        position = skipTrivia(position);
    }
    return position;
}

std::size_t YamlSource::endOfQuoted(std::size_t position) const
{
    const char quote = at(position);
    for (++position; position < size(); ++position) {
        if (m_text[position] == '\\' && quote == '"') {
            ++position;
        } else if (m_text[position] == quote) {
            if (quote == '"' || at(position + 1) != '\'') {
                return position + 1;
            }
            ++position;
        }
    }
    return npos;
}

std::size_t YamlSource::endOfFolded(std::size_t position, std::string_view meaning) const
{
    std::size_t end = position;
    for (const char c : meaning) {
        if (isSpace(c)) {
            continue;
        }
        while (position < size() && isSpace(m_text[position])) {
            ++position;
        }
        if (at(position) != c) {
            return npos;
        }
        end = ++position;
    }
    return end;
}

std::size_t YamlSource::endOfAlias(std::size_t position) const
{
    while (position < size() && !isSpace(m_text[position]) && !isFlowIndicator(m_text[position])) {
        ++position;
    }
    return position;
}

std::size_t YamlSource::endOfLine(std::size_t position) const
{
    const std::size_t lineFeed = m_text.find('\n', position);
    if (lineFeed == npos) {
        return size();
    }
    return lineFeed > position && m_text[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
}

std::size_t YamlSource::beginOfLine(std::size_t position) const
{
    const std::size_t lineFeed = position == 0 ? npos : m_text.rfind('\n', position - 1);
    if (lineFeed == npos) {
        return m_text.starts_with(utf8Bom) ? utf8Bom.size() : 0;
    }
    return lineFeed + 1;
}

bool YamlSource::isRestOfLineEmpty(std::size_t position) const
{
    const std::size_t next = skipBlanks(position);
    return next >= endOfLine(position) || (at(next) == '#' && next > position);
}

std::size_t YamlSource::nullLengthAt(std::size_t position) const
{
    for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
        if (m_text.substr(position < size() ? position : size()).starts_with(word)) {
            const std::size_t end = position + word.size();
            const std::size_t next = skipBlanks(end);
            const bool isWhole = end >= size() || isSpace(at(end)) || isFlowIndicator(at(end)) || at(end) == ':';
            const bool isKey = at(next) == ':' && (next + 1 >= size() || isSpace(at(next + 1)));
            return isWhole && !isKey ? word.size() : 0;
        }
    }
    return 0;
}

} // namespace headroom
