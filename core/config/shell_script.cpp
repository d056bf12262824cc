// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/shell_script.h"

#include "config/integer_arithmetic.h"
#include "config/shell_condition.h"
#include "config/shell_lexer.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

using Kind = ShellToken::Kind;

constexpr std::size_t maxExpandedBytes = std::size_t{256} << 10;

bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

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

/// Puts the words of commands in place of their expansions.
class Expander
{
public:
    Expander(std::string_view script, const std::map<std::string, ShellVariable>& variables)
        : m_script(script)
        , m_variables(variables)
    {
    }

    /// Without splitting, as in an assignment.
    ShellValue value(const std::vector<ShellPart>& parts, std::size_t from = 0);
    void fields(const ShellWord& word, std::vector<ShellField>& result);

private:
    ShellPiece unknown(const ShellPart& part) const
    {
        return {std::string(m_script.substr(part.begin, part.end - part.begin)),
                part.begin,
                part.end,
                part.quote,
                false,
                {}};
    }
    std::vector<ShellValue> items(const ShellPart& part);
    ShellValue parameter(const ShellPart& part);
    ShellValue arithmetic(const ShellPart& part);
    ShellValue through(const std::string& name, const ShellValue& value);

    std::string_view m_script;
    const std::map<std::string, ShellVariable>& m_variables;
    std::size_t m_bytes = 0; ///< expanded so far: variables that double one another would not end
};

ShellValue Expander::through(const std::string& name, const ShellValue& value)
{
    ShellValue result = value;
    for (ShellPiece& piece : result) {
        m_bytes += piece.text.size() + 1;
        if (std::find(piece.via.begin(), piece.via.end(), name) == piece.via.end()) {
            piece.via.push_back(name);
        }
    }
    return result;
}

/// The values an array parameter stands for; one for other parameters.
std::vector<ShellValue> Expander::items(const ShellPart& part)
{
    const bool isWhole = part.index == "@" || part.index == "*";
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

ShellValue Expander::parameter(const ShellPart& part)
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
ShellValue Expander::arithmetic(const ShellPart& part)
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

ShellValue Expander::value(const std::vector<ShellPart>& parts, std::size_t from)
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

void Expander::fields(const ShellWord& word, std::vector<ShellField>& result)
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

/// The words of fields that are themselves a command line: of eval, of bash -c.
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

    std::string_view m_script;
    ShellLexer m_lexer;
    ShellScript m_result;
    Expander m_expander;
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
    if (fields.empty()) {
        return;
    }
    std::vector<std::string> texts;
    bool areKnown = true;
    for (const ShellField& field : fields) {
        texts.push_back(field.text());
        areKnown = areKnown && field.isKnown();
    }
    m_branches.test(texts, areKnown);
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

ShellScript interpretShell(std::string_view text)
{
    return Interpreter(text).run();
}

} // namespace headroom
