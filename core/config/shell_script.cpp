// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/shell_script.h"

#include "config/shell_condition.h"
#include "config/shell_expansion.h"
#include "config/shell_lexer.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

using Kind = ShellToken::Kind;

constexpr std::int64_t maxParameters = 1024;

class Interpreter
{
public:
    explicit Interpreter(std::string_view script)
        : m_script(script)
        , m_lexer(script)
        , m_expander(script, m_result.variables)
    {
    }

    ShellScript run();

private:
    void read(ShellToken token);
    void endCommand(const std::string& separator);
    bool readKeyword(const ShellToken& token);
    void readCasePattern(const ShellToken& token);
    bool assign(const ShellToken& token);
    void set(const std::string& name, std::vector<ShellValue> items, bool isArray, bool isAppended);
    void execute();
    void addCommand(std::vector<ShellField> fields);
    void setParameters(const std::vector<ShellField>& fields, std::size_t first);
    void shiftParameters(std::size_t count);

    std::string_view m_script;
    ShellLexer m_lexer;
    ShellScript m_result;
    ShellExpander m_expander;
    ShellBranches m_branches;
    std::vector<ShellToken> m_words; ///< of the command being read
};

ShellScript Interpreter::run()
{
    for (;;) {
        ShellToken token = m_lexer.next();
        if (token.kind == Kind::End) {
            endCommand("\n");
            return std::move(m_result);
        }
        read(std::move(token));
    }
}

void Interpreter::read(ShellToken token)
{
    if (m_branches.isAtPattern()) {
        return readCasePattern(token);
    }
    switch (token.kind) {
    case Kind::Separator:
        return endCommand(token.name);
    case Kind::Open:
    case Kind::Close:
        return endCommand("\n");
    default:
        break;
    }
    if (!m_words.empty() || !readKeyword(token)) {
        m_words.push_back(std::move(token));
    }
}

/// Reserved words count at the beginning of a command.
bool Interpreter::readKeyword(const ShellToken& token)
{
    const auto& parts = token.word.parts;
    if (token.kind != Kind::Word || parts.size() != 1 || parts[0].quote != '\0'
        || parts[0].kind != ShellPart::Kind::Literal) {
        return false;
    }
    return m_branches.enter(parts[0].text);
}

/// PATTERN | PATTERN ) of a case.
void Interpreter::readCasePattern(const ShellToken& token)
{
    if (token.kind == Kind::Close) {
        m_branches.endPattern();
    } else if (token.kind == Kind::Word) {
        const ShellValue pattern = m_expander.value(token.word.parts);
        m_branches.addPattern(textOf(pattern), isKnown(pattern));
    }
}

void Interpreter::endCommand(const std::string& separator)
{
    if (!m_words.empty()) {
        execute();
        m_words.clear();
    }
    m_branches.endCommand(separator);
}

void Interpreter::set(const std::string& name, std::vector<ShellValue> items, bool isArray, bool isAppended)
{
    ShellVariable& variable = m_result.variables[name];
    const bool isNew = variable.items.empty();
    if (isAppended) {
        variable.isScalarSetting = false;
        if (isArray) {
            variable.items.insert(variable.items.end(), items.begin(), items.end());
        } else if (isNew) {
            variable.items = std::move(items);
        } else {
            ShellValue& value = variable.items.front();
            value.insert(value.end(), items.front().begin(), items.front().end());
        }
        variable.isArray = variable.isArray || isArray;
        return;
    }
    // In a branch that may not be taken, another value makes the variable unknown; one that is not known itself (an
    // option of the command line) leaves the default.
    if (m_branches.isUncertain() && !isNew && !isArray && !variable.isArray) {
        if (!isKnown(items.front()) || textOf(items.front()) == textOf(variable.items.front())) {
            return;
        }
        for (ShellPiece& piece : items.front()) {
            piece.isKnown = false;
        }
    }
    variable = {std::move(items), isArray, true};
}

/// NAME=value, NAME+=value and NAME=( … ).
bool Interpreter::assign(const ShellToken& token)
{
    if (token.kind == Kind::Array) {
        std::vector<ShellValue> items;
        for (const ShellWord& word : token.items) {
            std::vector<ShellField> fields;
            m_expander.fields(word, fields);
            for (ShellField& field : fields) {
                items.push_back(std::move(field.pieces));
            }
        }
        set(token.name, std::move(items), true, token.isAppended);
        return true;
    }
    const auto& parts = token.word.parts;
    if (parts.empty() || parts[0].kind != ShellPart::Kind::Literal || parts[0].quote != '\0') {
        return false;
    }
    const std::string& first = parts[0].text;
    const std::size_t equals = first.find('=');
    const bool isAppended = equals != std::string::npos && equals > 0 && first[equals - 1] == '+';
    const std::string name = first.substr(0, equals == std::string::npos ? 0 : equals - (isAppended ? 1 : 0));
    const bool isName
        = !name.empty() && (name[0] < '0' || name[0] > '9') && std::all_of(name.begin(), name.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
          });
    if (!isName || parts[0].end - parts[0].begin != first.size()) {
        return false;
    }
    ShellValue value{{first.substr(equals + 1), parts[0].begin + equals + 1, parts[0].end, '\0', true}};
    if (value.front().text.empty() && parts.size() > 1) {
        value.clear();
    }
    const ShellValue rest = m_expander.value(parts, 1);
    value.insert(value.end(), rest.begin(), rest.end());
    if (value.size() > 1) { // empty pieces stand for quotes
        std::erase_if(value, [](const ShellPiece& piece) { return piece.text.empty() && piece.isKnown; });
    }
    set(name, {std::move(value)}, false, isAppended);
    return true;
}

void Interpreter::execute()
{
    if (m_branches.isSkipped()) {
        return;
    }
    const auto isDeclaration = [](const ShellToken& token) {
        const auto& parts = token.word.parts;
        constexpr std::string_view words[]{"export", "local", "declare", "readonly", "typeset", "env"};
        return parts.size() == 1
            && std::find(std::begin(words), std::end(words), std::string_view(parts[0].text)) != std::end(words);
    };
    const bool isDeclared = isDeclaration(m_words.front());
    std::size_t at = 0;
    while (at < m_words.size()
           && (assign(m_words[at]) || (at == 0 && isDeclared)
               || (isDeclared && !m_words[at].word.parts.empty() && m_words[at].word.parts[0].text.starts_with('-')))) {
        ++at;
    }
    std::vector<ShellField> fields;
    for (; at < m_words.size(); ++at) {
        if (m_words[at].kind == Kind::Word) {
            m_expander.fields(m_words[at].word, fields);
        }
    }
    if (!fields.empty()) {
        addCommand(std::move(fields));
    }
}

/// set -- WORD…: the positional parameters from here on. Where the branch may not be taken, nobody knows them.
void Interpreter::setParameters(const std::vector<ShellField>& fields, std::size_t first)
{
    std::vector<ShellValue> items;
    for (std::size_t i = first; i < fields.size() && items.size() < std::size_t{maxParameters}; ++i) {
        items.push_back(fields[i].pieces);
    }
    auto& variables = m_result.variables;
    std::erase_if(variables, [](const auto& variable) { return isPositional(variable.first); });
    if (m_branches.isUncertain()) {
        return;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        variables[std::to_string(i + 1)] = {{items[i]}, false, false};
    }
    variables["#"] = {{{{std::to_string(items.size()), 0, 0, '\0', true}}}, false, false};
    variables["@"] = variables["*"] = {std::move(items), true, false};
}

void Interpreter::shiftParameters(std::size_t count)
{
    const auto all = m_result.variables.find("@");
    if (all == m_result.variables.end()) {
        return; // those of the command line, which are not known anyway
    }
    std::vector<ShellField> rest;
    for (std::size_t i = std::min(count, all->second.items.size()); i < all->second.items.size(); ++i) {
        rest.push_back({all->second.items[i]});
    }
    setParameters(rest, 0);
}

/// A command as its words are after expansion; the command line in a string instead of the shell that runs it.
void Interpreter::addCommand(std::vector<ShellField> fields)
{
    std::vector<std::string> texts;
    bool areKnown = true;
    for (const ShellField& field : fields) {
        texts.push_back(field.text());
        areKnown = areKnown && field.isKnown();
    }
    m_branches.test(texts, areKnown);
    if (texts[0] == "set" && texts.size() > 1 && texts[1] == "--") {
        return setParameters(fields, 2);
    }
    if (texts[0] == "shift") {
        return shiftParameters(static_cast<std::size_t>(
            std::clamp<std::int64_t>(texts.size() > 1 ? parseInteger(texts[1]).value_or(1) : 1, 0, maxParameters)));
    }
    if (texts[0] == "eval") {
        m_result.commands.push_back(splitAgain(fields, 1));
        return;
    }
    for (std::size_t i = 0; i + 2 < fields.size(); ++i) {
        if ((texts[i] == "bash" || texts[i] == "sh") && (texts[i + 1] == "-c" || texts[i + 1] == "-lc")) {
            std::vector<ShellField> inner = splitAgain(fields, i + 2);
            fields.resize(i);
            fields.insert(fields.end(), inner.begin(), inner.end());
            break;
        }
    }
    m_result.commands.push_back(std::move(fields));
}

} // namespace

bool isPositional(std::string_view name)
{
    return name == "@" || name == "*" || name == "#" || (!name.empty() && name.front() >= '0' && name.front() <= '9');
}

ShellScript interpretShell(std::string_view text)
{
    return Interpreter(text).run();
}

} // namespace headroom
