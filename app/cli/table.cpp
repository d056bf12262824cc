// SPDX-License-Identifier: GPL-3.0-or-later
#include "table.h"

#include <algorithm>

namespace headroom::cli {

namespace {

/// Characters, not bytes: → and × are one column wide.
std::size_t width(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

} // namespace

std::string wrapped(const std::string& head, const std::string& text)
{
    constexpr std::size_t columns = 100;
    const std::string indent(width(head), ' ');
    std::string result;
    std::string line = head;
    bool isEmpty = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!isEmpty && width(line) + 1 + width(word) > columns) {
            result += line + '\n';
            line = indent;
            isEmpty = true;
        }
        line += (isEmpty ? "" : " ") + word;
        isEmpty = false;
        at = end + 1;
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
