// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/python_lexer.h"

#include <algorithm>

namespace headroom {

namespace {

using Kind = PythonToken::Kind;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameChar(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || isDigit(c)
        || static_cast<unsigned char>(c) >= 0x80;
}

class Tokenizer
{
public:
    explicit Tokenizer(std::string_view text)
        : m_text(text)
    {
    }

    std::vector<PythonToken> read();

private:
    [[nodiscard]] char at(std::size_t position) const { return position < m_text.size() ? m_text[position] : '\0'; }
    bool skipBlanks();
    void readString(std::size_t begin);
    void readNumber();
    void add(Kind kind, std::size_t begin, std::size_t end, std::string text, char quote = '\0');

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_depth = 0; ///< brackets that are open
    std::size_t m_lineBegin = 0;
    bool m_isLineEmpty = true;
    std::vector<PythonToken> m_tokens;
};

void Tokenizer::add(Kind kind, std::size_t begin, std::size_t end, std::string text, char quote)
{
    m_tokens.push_back({kind, std::move(text), begin, end, quote, begin - m_lineBegin});
    m_isLineEmpty = false;
    m_at = end;
}

/// Blanks, comments and joined lines; true where a line ends.
bool Tokenizer::skipBlanks()
{
    while (m_at < m_text.size()) {
        const char c = m_text[m_at];
        if (c == '#') {
            m_at = std::min(m_text.find('\n', m_at), m_text.size());
        } else if (c == '\\' && (at(m_at + 1) == '\n' || (at(m_at + 1) == '\r' && at(m_at + 2) == '\n'))) {
            m_at += at(m_at + 1) == '\n' ? 2 : 3;
        } else if (c == '\n') {
            ++m_at;
            const bool isEnd = m_depth == 0 && !m_isLineEmpty;
            if (m_depth == 0) {
                m_lineBegin = m_at;
            }
            if (isEnd) {
                return true;
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
            ++m_at;
        } else {
            return false;
        }
    }
    return false;
}

/// At the quote; the token begins at its prefix.
void Tokenizer::readString(std::size_t begin)
{
    const char quote = m_text[m_at];
    const std::string_view prefix = m_text.substr(begin, m_at - begin);
    const std::string triple(3, quote);
    const bool isLong = m_text.substr(m_at).starts_with(triple);
    const bool isRaw = prefix.find_first_of("rR") != std::string_view::npos;
    const bool isOther = isLong || prefix.find_first_of("bBfF") != std::string_view::npos;
    std::string text;
    bool hasEscape = false;
    std::size_t end = m_at + (isLong ? 3 : 1);
    while (end < m_text.size() && (isLong ? !m_text.substr(end).starts_with(triple) : m_text[end] != quote)) {
        if (!isLong && m_text[end] == '\n') {
            break; // an open quote ends with its line
        }
        if (m_text[end] == '\\' && end + 1 < m_text.size()) {
            const char next = m_text[end + 1];
            hasEscape = hasEscape || (!isRaw && next != '\\' && next != '\'' && next != '"');
            text += isRaw ? std::string(m_text.substr(end, 2)) : std::string(1, next);
            end += 2;
        } else {
            text += m_text[end++];
        }
    }
    end = std::min(end + (isLong ? 3 : 1), m_text.size());
    add(Kind::String, begin, end, std::move(text), isOther || hasEscape || isRaw ? 'x' : quote);
}

void Tokenizer::readNumber()
{
    std::size_t end = m_at;
    while (
        isNameChar(at(end)) || at(end) == '.'
        || ((at(end) == '+' || at(end) == '-') && (at(end - 1) == 'e' || at(end - 1) == 'E') && isDigit(at(end + 1)))) {
        ++end;
    }
    add(Kind::Number, m_at, end, std::string(m_text.substr(m_at, end - m_at)));
}

std::vector<PythonToken> Tokenizer::read()
{
    while (m_at < m_text.size()) {
        if (skipBlanks()) {
            m_tokens.push_back({Kind::NewLine, "\n", m_at - 1, m_at, '\0', 0});
            m_isLineEmpty = true;
            continue;
        }
        if (m_at >= m_text.size()) {
            break;
        }
        const char c = m_text[m_at];
        if (c == '"' || c == '\'') {
            readString(m_at);
        } else if (isDigit(c) || (c == '.' && isDigit(at(m_at + 1)))) {
            readNumber();
        } else if (isNameChar(c)) {
            const std::size_t begin = m_at;
            std::size_t end = m_at;
            while (isNameChar(at(end))) {
                ++end;
            }
            m_at = end;
            if ((at(end) == '"' || at(end) == '\'') && end - begin <= 2) {
                readString(begin);
            } else {
                add(Kind::Name, begin, end, std::string(m_text.substr(begin, end - begin)));
            }
        } else {
            m_depth += c == '(' || c == '[' || c == '{' ? 1 : 0;
            m_depth -= (c == ')' || c == ']' || c == '}') && m_depth > 0 ? 1 : 0;
            const bool isDouble = (c == '*' || c == '/' || c == '=') && at(m_at + 1) == c;
            add(Kind::Sign, m_at, m_at + (isDouble ? 2 : 1), std::string(m_text.substr(m_at, isDouble ? 2 : 1)));
        }
    }
    m_tokens.push_back({Kind::NewLine, "\n", m_text.size(), m_text.size(), '\0', 0});
    m_tokens.push_back({Kind::End, {}, m_text.size(), m_text.size(), '\0', 0});
    return std::move(m_tokens);
}

} // namespace

std::vector<PythonToken> pythonTokens(std::string_view text)
{
    return Tokenizer(text).read();
}

} // namespace headroom
