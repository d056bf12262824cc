// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/shell_lexer.h"

#include <algorithm>

namespace headroom {

namespace {

constexpr int maxDepth = 40;

bool isNameStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isNameChar(char c)
{
    return isNameStart(c) || isDigit(c);
}

constexpr std::string_view metaCharacters = " \t\r\n;&|()<>";

bool isMeta(char c)
{
    return metaCharacters.find(c) != std::string_view::npos;
}

/// "NAME=" or "NAME+=" and nothing else: an array may follow.
bool isAssignmentPrefix(const ShellWord& word)
{
    if (word.parts.size() != 1 || word.parts[0].quote != '\0' || !word.parts[0].text.ends_with('=')) {
        return false;
    }
    std::string_view name = word.parts[0].text;
    name.remove_suffix(name.ends_with("+=") ? 2 : 1);
    return !name.empty() && isNameStart(name.front()) && std::all_of(name.begin(), name.end(), isNameChar);
}

} // namespace

void ShellLexer::addLiteral(std::vector<ShellPart>& parts, std::string_view text, char quote, std::size_t begin,
                            std::size_t end)
{
    // Characters that stand for themselves, side by side, are one stretch.
    if (!parts.empty() && end - begin == text.size()) {
        ShellPart& last = parts.back();
        if (last.kind == ShellPart::Kind::Literal && last.quote == quote && last.end == begin
            && last.end - last.begin == last.text.size()) {
            last.text += text;
            last.end = end;
            return;
        }
    }
    ShellPart part;
    part.text = text;
    part.quote = quote;
    part.begin = begin;
    part.end = end;
    parts.push_back(std::move(part));
}

/// Blanks, continued lines and comments.
void ShellLexer::skipBlanks()
{
    while (m_at < m_text.size()) {
        if (at(m_at) == ' ' || at(m_at) == '\t' || at(m_at) == '\r') {
            ++m_at;
        } else if (isAt("\\\n")) {
            m_at += 2;
        } else if (isAt("\\\r\n")) {
            m_at += 3;
        } else if (at(m_at) == '#') {
            m_at = std::min(m_text.find('\n', m_at), m_text.size());
        } else {
            return;
        }
    }
}

/// Past what is nested between the bracket here and its partner, quotes respected.
void ShellLexer::skipNested(char open, char close)
{
    std::size_t depth = 0;
    char quote = '\0';
    for (; m_at < m_text.size(); ++m_at) {
        const char c = m_text[m_at];
        if (c == '\\' && quote != '\'') {
            ++m_at;
        } else if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == open && open != close) {
            ++depth;
        } else if (c == close && --depth == 0) {
            ++m_at;
            return;
        }
    }
    m_at = m_text.size();
}

/// What a here-document holds is text for another program.
void ShellLexer::skipHeredocs()
{
    for (const std::string& heredoc : m_heredocs) {
        const bool isStripped = heredoc.front() == '-';
        const std::string_view delimiter = std::string_view(heredoc).substr(1);
        while (m_at < m_text.size()) {
            const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
            std::string_view line = m_text.substr(m_at, end - m_at);
            m_at = std::min(end + 1, m_text.size());
            if (line.ends_with('\r')) {
                line.remove_suffix(1);
            }
            if (isStripped) {
                line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
            }
            if (line == delimiter) {
                break;
            }
        }
    }
    m_heredocs.clear();
}

void ShellLexer::skipRedirection()
{
    const bool isHeredoc = isAt("<<") && !isAt("<<<");
    const bool isStripped = isAt("<<-");
    if (at(m_at + 1) == '(') { // <( … )
        ++m_at;
        skipNested('(', ')');
        return;
    }
    while (m_at < m_text.size() && std::string_view("<>&|-").find(m_text[m_at]) != std::string_view::npos) {
        ++m_at;
    }
    skipBlanks();
    ShellWord target;
    readParts(target.parts, metaCharacters, '\0', 0);
    if (isHeredoc) {
        std::string delimiter(1, isStripped ? '-' : '+');
        for (const ShellPart& part : target.parts) {
            delimiter += part.text;
        }
        m_heredocs.push_back(std::move(delimiter));
    }
}

ShellToken ShellLexer::separator()
{
    ShellToken token;
    token.kind = ShellToken::Kind::Separator;
    for (const std::string_view text : {";;", "&&", "||", "\n", ";", "|", "&"}) {
        if (isAt(text)) {
            token.name = text;
            break;
        }
    }
    m_at += token.name.size();
    if (token.name == "\n") {
        skipHeredocs();
    }
    return token;
}

ShellToken ShellLexer::next()
{
    for (;;) {
        skipBlanks();
        const char c = at(m_at);
        if (m_at >= m_text.size()) {
            return {};
        }
        if (c == '<' || c == '>' || isAt("&>")) {
            skipRedirection();
            continue;
        }
        if (c == '\n' || c == ';' || c == '&' || c == '|') {
            return separator();
        }
        if (c == '(' || c == ')') {
            ++m_at;
            ShellToken token;
            token.kind = c == '(' ? ShellToken::Kind::Open : ShellToken::Kind::Close;
            return token;
        }
        ShellToken token = readWordOrArray();
        const auto& parts = token.word.parts;
        const bool isDescriptor = (at(m_at) == '<' || at(m_at) == '>') && parts.size() == 1 && parts[0].text.size() == 1
            && isDigit(parts[0].text[0]); // 2>&1
        if (!isDescriptor) {
            return token;
        }
    }
}

ShellToken ShellLexer::readWordOrArray()
{
    ShellToken token;
    token.kind = ShellToken::Kind::Word;
    token.word.begin = m_at;
    readParts(token.word.parts, metaCharacters, '\0', 0);
    token.word.end = m_at;
    if (at(m_at) != '(' || !isAssignmentPrefix(token.word)) {
        return token;
    }
    token.kind = ShellToken::Kind::Array;
    token.name = token.word.parts[0].text;
    token.isAppended = token.name.ends_with("+=");
    token.name.resize(token.name.size() - (token.isAppended ? 2 : 1));
    ++m_at;
    while (m_at < m_text.size() && at(m_at) != ')') {
        skipBlanks();
        const std::size_t before = m_at;
        if (at(m_at) == ')' || m_at >= m_text.size()) {
            break;
        }
        if (isMeta(at(m_at))) {
            ++m_at; // a line end, or what does not belong here
            continue;
        }
        ShellWord item;
        item.begin = m_at;
        readParts(item.parts, metaCharacters, '\0', 0);
        item.end = m_at;
        token.items.push_back(std::move(item));
        m_at = std::max(m_at, before + 1);
    }
    m_at = std::min(m_at + 1, m_text.size());
    return token;
}

/// Parts up to one of `stops`, which is not consumed. In double quotes (`quote`) only $, ` and \ are special.
void ShellLexer::readParts(std::vector<ShellPart>& parts, std::string_view stops, char quote, int depth)
{
    while (m_at < m_text.size() && stops.find(m_text[m_at]) == std::string_view::npos) {
        const char c = m_text[m_at];
        const char following = at(m_at + 1);
        if (c == '\\' && following == '\n') {
            m_at += 2;
        } else if (c == '\\' && m_at + 1 < m_text.size()
                   && (quote == '\0' || std::string_view("$`\"\\").find(following) != std::string_view::npos)) {
            addLiteral(parts, m_text.substr(m_at + 1, 1), quote, m_at, m_at + 2);
            m_at += 2;
        } else if (c == '\'' && quote == '\0') {
            readSingleQuoted(parts);
        } else if (c == '"' && quote == '\0') {
            ++m_at;
            addLiteral(parts, {}, '"', m_at, m_at); // "" is a word too
            readParts(parts, "\"", '"', depth + 1);
            m_at = std::min(m_at + 1, m_text.size());
        } else if (c == '$') {
            readDollar(parts, quote, depth);
        } else if (c == '`') {
            readSubstitution(parts, quote, '`', '`');
        } else {
            addLiteral(parts, m_text.substr(m_at, 1), quote, m_at, m_at + 1);
            ++m_at;
        }
    }
}

void ShellLexer::readSingleQuoted(std::vector<ShellPart>& parts)
{
    const std::size_t begin = m_at + 1;
    const std::size_t end = std::min(m_text.find('\'', begin), m_text.size());
    addLiteral(parts, m_text.substr(begin, end - begin), '\'', begin, end);
    m_at = std::min(end + 1, m_text.size());
}

/// $( … ) and ` … `: only the shell knows.
void ShellLexer::readSubstitution(std::vector<ShellPart>& parts, char quote, char open, char close)
{
    ShellPart part;
    part.kind = ShellPart::Kind::Command;
    part.quote = quote;
    part.begin = m_at;
    if (open == close) {
        ++m_at;
        while (m_at < m_text.size() && m_text[m_at] != close) {
            m_at += m_text[m_at] == '\\' ? 2 : 1;
        }
        m_at = std::min(m_at + 1, m_text.size());
    } else {
        ++m_at; // the $
        skipNested(open, close);
    }
    part.end = m_at;
    part.text = m_text.substr(part.begin, part.end - part.begin);
    parts.push_back(std::move(part));
}

void ShellLexer::readDollar(std::vector<ShellPart>& parts, char quote, int depth)
{
    if (isAt("$((")) {
        readSubstitution(parts, quote, '(', ')');
        ShellPart& part = parts.back();
        if (part.text.ends_with("))")) {
            part.kind = ShellPart::Kind::Arithmetic;
            part.text = part.text.substr(3, part.text.size() - 5);
        }
        return;
    }
    if (isAt("$(")) {
        return readSubstitution(parts, quote, '(', ')');
    }
    if (isAt("${")) {
        return readBraced(parts, quote, depth);
    }
    if (quote == '\0' && (isAt("$'") || isAt("$\""))) {
        ++m_at; // quotes with escapes or translations: read as the plain ones
        return;
    }
    ShellPart part;
    part.kind = ShellPart::Kind::Parameter;
    part.quote = quote;
    part.begin = m_at;
    std::size_t end = m_at + 1;
    if (isNameStart(at(end))) {
        while (isNameChar(at(end))) {
            ++end;
        }
    } else if (isDigit(at(end)) || std::string_view("@*#?$!-").find(at(end)) != std::string_view::npos) {
        end += end < m_text.size() ? 1 : 0;
    }
    if (end == m_at + 1) {
        addLiteral(parts, "$", quote, m_at, m_at + 1);
        ++m_at;
        return;
    }
    part.text = m_text.substr(m_at + 1, end - m_at - 1);
    part.end = end;
    m_at = end;
    parts.push_back(std::move(part));
}

/// ${NAME}, ${NAME[i]}, ${#NAME}, ${NAME:-default} and the like.
void ShellLexer::readBraced(std::vector<ShellPart>& parts, char quote, int depth)
{
    ShellPart part;
    part.kind = ShellPart::Kind::Parameter;
    part.quote = quote;
    part.begin = m_at;
    const std::size_t open = m_at + 1;
    std::size_t end = open + 1;
    if (at(end) == '#' && isNameStart(at(end + 1))) {
        part.operation = "#";
        ++end;
    }
    const std::size_t name = end;
    while (isNameChar(at(end))
           || (end == name && std::string_view("@*").find(at(end)) != std::string_view::npos && at(end) != '\0')) {
        ++end;
    }
    part.text = m_text.substr(name, end - name);
    if (at(end) == '[') {
        const std::size_t close = std::min(m_text.find(']', end), m_text.size());
        part.index = m_text.substr(end + 1, close - std::min(end + 1, close));
        end = std::min(close + 1, m_text.size());
    }
    for (const std::string_view operation : {":-", ":=", ":+", ":?", "-", "=", "+", "?"}) {
        if (part.operation.empty() && m_text.substr(end).starts_with(operation)) {
            part.operation = operation;
            end += operation.size();
            break;
        }
    }
    m_at = end;
    if (!part.operation.empty() && part.operation != "#" && depth < maxDepth) {
        readParts(part.argument, "}", quote, depth + 1);
    }
    if (at(m_at) != '}' || part.text.empty()) {
        part.operation = "?";
        part.argument.clear();
        m_at = open;
        skipNested('{', '}');
    } else {
        ++m_at;
    }
    part.end = m_at;
    parts.push_back(std::move(part));
}

} // namespace headroom
