// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace headroom {

inline constexpr std::string_view utf8Bom = "\xEF\xBB\xBF";

/// Questions about the text of a YAML file that its parser does not answer: where things end. All positions are byte
/// offsets into `text`; `npos` where there is no such place.
class YamlSource
{
public:
    static constexpr std::size_t npos = std::string_view::npos;

    explicit YamlSource(std::string_view text)
        : m_text(text)
    {
    }

    [[nodiscard]] std::size_t size() const { return m_text.size(); }
    [[nodiscard]] std::string_view text() const { return m_text; }
    /// 0 at the end, which no file has inside it.
    [[nodiscard]] char at(std::size_t position) const { return position < m_text.size() ? m_text[position] : '\0'; }

    [[nodiscard]] std::size_t skipBlanks(std::size_t position) const;
    /// Blanks, line ends and comments.
    [[nodiscard]] std::size_t skipTrivia(std::size_t position) const;
    /// Past an anchor and a tag, in either order, and the trivia after each; `propertyEnd` is set to the end of the
    /// last.
    [[nodiscard]] std::size_t skipProperties(std::size_t position, std::size_t& propertyEnd) const;

    [[nodiscard]] std::size_t endOfQuoted(std::size_t position) const;
    /// Where a plain or block scalar with this meaning ends. Neither has escapes, so its characters stand in the file
    /// in order with only blanks and line ends between them, however it is folded.
    [[nodiscard]] std::size_t endOfFolded(std::size_t position, std::string_view meaning) const;
    [[nodiscard]] std::size_t endOfAlias(std::size_t position) const;

    /// Before the line end (LF or CRLF) of the line that holds `position`.
    [[nodiscard]] std::size_t endOfLine(std::size_t position) const;
    [[nodiscard]] std::size_t beginOfLine(std::size_t position) const;
    /// Nothing but blanks and a comment follows on the line.
    [[nodiscard]] bool isRestOfLineEmpty(std::size_t position) const;
    /// ~, null, Null or NULL as a value, not as the key of the next entry; 0 when there is none, else its length.
    [[nodiscard]] std::size_t nullLengthAt(std::size_t position) const;

private:
    std::string_view m_text;
};

} // namespace headroom
