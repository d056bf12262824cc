// SPDX-License-Identifier: GPL-3.0-or-later
#include "table.h"

#include <algorithm>

namespace headroom::cli {

namespace {

/// The code point at `at`, which moves behind it; bytes that are none count as one character each.
char32_t nextCharacter(std::string_view text, std::size_t& at)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at++);
    const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    char32_t character = more == 0 ? first : first & (0x3FU >> static_cast<unsigned>(more));
    for (int i = 0; i < more && at < text.size() && (byte(at) & 0xC0U) == 0x80U; ++i) {
        character = character << 6U | (byte(at++) & 0x3FU);
    }
    return character;
}

/// Two columns wide in a terminal: Chinese characters and their punctuation (Unicode Standard Annex 11, W and F).
bool isWide(char32_t character)
{
    return (character >= 0x1100 && character <= 0x115F) || (character >= 0x2E80 && character <= 0xA4CF)
        || (character >= 0xAC00 && character <= 0xD7A3) || (character >= 0xF900 && character <= 0xFAFF)
        || (character >= 0xFE30 && character <= 0xFE6F) || (character >= 0xFF00 && character <= 0xFF60)
        || (character >= 0xFFE0 && character <= 0xFFE6) || (character >= 0x20000 && character <= 0x3FFFD);
}

/// No line begins with these.
bool endsWord(char32_t character)
{
    return std::u32string_view(U"，。；：、！？）》”’").find(character) != std::u32string_view::npos;
}

/// Where the word that begins at `from` ends: at a blank, and before and behind every wide character.
std::size_t endOfWord(std::string_view text, std::size_t from)
{
    std::size_t at = from;
    bool isAfterWide = false;
    while (at < text.size() && text[at] != ' ') {
        std::size_t next = at;
        const char32_t character = nextCharacter(text, next);
        const bool isBreak = at > from && (isAfterWide || isWide(character)) && !endsWord(character);
        if (isBreak) {
            break;
        }
        isAfterWide = isWide(character);
        at = next;
    }
    return at;
}

} // namespace

std::size_t width(std::string_view text)
{
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        columns += isWide(nextCharacter(text, at)) ? 2 : 1;
    }
    return columns;
}

std::string wrapped(const std::string& head, const std::string& text)
{
    constexpr std::size_t columns = 100;
    const std::string indent(width(head), ' ');
    std::string result;
    std::string line = head;
    bool isEmpty = true;
    for (std::size_t at = 0; at < text.size();) {
        const bool isApart = text[at] == ' ';
        at += isApart ? 1 : 0;
        const std::size_t end = endOfWord(text, at);
        const std::string_view word = std::string_view(text).substr(at, end - at);
        if (!isEmpty && width(line) + (isApart ? 1 : 0) + width(word) > columns) {
            result += line + '\n';
            line = indent;
            isEmpty = true;
        }
        line += isEmpty || !isApart ? "" : " ";
        line += word;
        isEmpty = false;
        at = end;
    }
    return result + line + '\n';
}

void Table::addColumn(std::string title, Align align)
{
    m_columns.push_back({std::move(title), align});
}

void Table::addRow(std::vector<std::string> cells)
{
    cells.resize(m_columns.size());
    m_rows.push_back(std::move(cells));
}

void Table::addLine()
{
    m_rows.emplace_back();
}

std::string Table::text() const
{
    std::vector<std::size_t> widths;
    std::vector<std::string> titles;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
        std::size_t widest = width(m_columns[c].title);
        for (const auto& row : m_rows) {
            widest = row.empty() ? widest : std::max(widest, width(row[c]));
        }
        widths.push_back(widest);
        titles.push_back(m_columns[c].title);
    }
    std::string result;
    const auto print = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const std::string padding(widths[c] - width(row[c]), ' ');
            line += c == 0 ? "" : "  ";
            line += m_columns[c].align == Align::Left ? row[c] + padding : padding + row[c];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + '\n';
    };
    std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
    for (const std::size_t columnWidth : widths) {
        total += columnWidth;
    }
    print(titles);
    result += std::string(total, '-') + '\n';
    for (const auto& row : m_rows) {
        if (row.empty()) {
            result += std::string(total, '-') + '\n';
        } else {
            print(row);
        }
    }
    return result;
}

} // namespace headroom::cli
