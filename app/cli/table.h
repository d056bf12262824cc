// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Columns that the text takes in a terminal: → and × are one wide, Chinese characters two.
[[nodiscard]] std::size_t width(std::string_view text);

/// `text` in lines of at most 100 columns: `head` before the first, as many blanks before the others.
[[nodiscard]] std::string wrapped(const std::string& head, const std::string& text);

/// A table for the terminal: columns as wide as their widest cell, numbers to the right, words to the left.
class Table
{
public:
    enum class Align { Left, Right };

    void addColumn(std::string title, Align align = Align::Right);
    void addRow(std::vector<std::string> cells);
    /// The rows that follow stand apart from those above by a line.
    void addLine();
    [[nodiscard]] std::string text() const;

private:
    struct Column
    {
        std::string title;
        Align align;
    };
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows; ///< an empty row is a line
};

} // namespace headroom::cli
