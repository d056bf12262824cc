// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A stretch of a shell word: literal characters, or something the shell would put in their place.
struct ShellPart
{
    enum class Kind : std::uint8_t { Literal, Parameter, Arithmetic, Command };

    Kind kind = Kind::Literal;
    std::string text; ///< the characters meant, a parameter's name, an arithmetic expression
    char quote = '\0'; ///< the quotes it stands in
    std::size_t begin = 0, end = 0; ///< where it stands, without quotes
    std::string index; ///< of an array: @, * or a number
    std::string operation; ///< of a parameter: ":-", "#" for its length, "?" for what is not understood
    std::vector<ShellPart> argument; ///< what follows the operation
};

struct ShellWord
{
    std::vector<ShellPart> parts;
    std::size_t begin = 0, end = 0; ///< quotes included
};

struct ShellToken
{
    enum class Kind : std::uint8_t { Word, Array, Separator, Open, Close, End };

    Kind kind = Kind::End;
    ShellWord word;
    std::string name; ///< of an array that is assigned, or the separator: newline, ;, ;;, &, &&, |, ||
    bool isAppended = false; ///< NAME+=( … )
    std::vector<ShellWord> items; ///< of that array
};

/// The words of a shell script (POSIX 2.3 with bash's arrays and arithmetic) and where each stands. Comments,
/// redirections and here-documents are left out; nothing is run. Whatever the text, it ends.
class ShellLexer
{
public:
    explicit ShellLexer(std::string_view text)
        : m_text(text)
    {
    }

    [[nodiscard]] ShellToken next();

private:
    [[nodiscard]] char at(std::size_t position) const { return position < m_text.size() ? m_text[position] : '\0'; }
    [[nodiscard]] bool isAt(std::string_view what) const { return m_text.substr(m_at).starts_with(what); }
    void skipBlanks();
    void skipRedirection();
    void skipHeredocs();
    void skipNested(char open, char close);
    ShellToken separator();
    ShellToken readWordOrArray();
    void readParts(std::vector<ShellPart>& parts, std::string_view stops, char quote, int depth);
    void readDollar(std::vector<ShellPart>& parts, char quote, int depth);
    void readBraced(std::vector<ShellPart>& parts, char quote, int depth);
    void readSingleQuoted(std::vector<ShellPart>& parts);
    void readSubstitution(std::vector<ShellPart>& parts, char quote, char open, char close);
    static void addLiteral(std::vector<ShellPart>& parts, std::string_view text, char quote, std::size_t begin,
                           std::size_t end);

    std::string_view m_text;
    std::size_t m_at = 0;
    std::vector<std::string> m_heredocs; ///< delimiters that wait for the end of the line; "-…": tabs are stripped
};

} // namespace headroom
