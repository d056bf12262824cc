// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/config_syntax.h"
#include "config/flag_splice.h"
#include "config/integer_arithmetic.h"
#include "config/key_path.h"
#include "config/python_lexer.h"
#include "config/python_splice.h"
#include "units/number.h"

#include <algorithm>
#include <map>
#include <optional>

namespace headroom {

namespace {

using Kind = PythonToken::Kind;

constexpr int maxDepth = 60;

/// Assignments of literals, of dict(…) and of objects made with keyword arguments; nothing is run.
class PythonReader
{
public:
    PythonReader(const std::string& bytes, const std::string& name)
        : m_bytes(bytes)
        , m_name(name)
        , m_tokens(pythonTokens(bytes))
    {
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (bytes[at] == '\n') {
                m_lineEnds.push_back(at);
            }
        }
    }

    SyntaxReading read();

private:
    [[nodiscard]] const PythonToken& token(std::size_t ahead = 0) const
    {
        return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)];
    }
    [[nodiscard]] bool isSign(std::string_view sign, std::size_t ahead = 0) const
    {
        return token(ahead).kind == Kind::Sign && token(ahead).text == sign;
    }
    [[nodiscard]] std::int64_t lineOf(std::size_t at) const
    {
        return std::lower_bound(m_lineEnds.begin(), m_lineEnds.end(), at) - m_lineEnds.begin() + 1;
    }
    void readStatement();
    void readValue(const std::string& path, int depth);
    bool readCall(const std::string& path, int depth, std::size_t end);
    [[nodiscard]] std::size_t endOfBrackets(std::size_t at) const;
    void readArguments(const std::string& path, int depth);
    void readDisplay(const std::string& path, int depth);
    void readExpression(const std::string& path, std::size_t end);
    [[nodiscard]] std::size_t endOfValue() const;
    [[nodiscard]] std::optional<FlagValue> simpleValue(std::size_t begin, std::size_t end) const;
    [[nodiscard]] std::optional<FlagValue> arithmetic(std::size_t begin, std::size_t end) const;
    void add(FlagValue value);

    const std::string& m_bytes;
    const std::string& m_name;
    std::vector<PythonToken> m_tokens;
    std::vector<std::size_t> m_lineEnds;
    std::size_t m_at = 0;
    bool m_hasReturn = false;
    std::map<std::string, std::size_t> m_places; ///< key: place among the values
    std::shared_ptr<PythonSyntax> m_syntax = std::make_shared<PythonSyntax>();
    std::vector<Problem> m_problems;
};

void PythonReader::add(FlagValue value)
{
    auto& values = m_syntax->values;
    const auto [found, isNew] = m_places.try_emplace(value.key, values.size());
    if (!isNew) {
        const FlagValue& earlier = values[found->second];
        m_problems.push_back({Severity::Warning, m_name, value.line,
                              Text{HEADROOM_TR("core", "“%1” is already on line %2; the last one, on line %3, is used"),
                                   {value.key, std::to_string(earlier.line), std::to_string(value.line)}}});
        values[found->second].key.clear();
        found->second = values.size();
    }
    values.push_back(std::move(value));
}

/// The token behind the value that begins here: a comma, a closing bracket or the end of the line at this level.
std::size_t PythonReader::endOfValue() const
{
    std::size_t depth = 0;
    for (std::size_t at = m_at;; ++at) {
        const PythonToken& here = m_tokens[at];
        if (here.kind == Kind::End || (here.kind == Kind::NewLine && depth == 0)) {
            return at;
        }
        if (here.kind != Kind::Sign) {
            continue;
        }
        const char sign = here.text.front();
        if (depth == 0 && (sign == ',' || sign == ')' || sign == ']' || sign == '}')) {
            return at;
        }
        depth += sign == '(' || sign == '[' || sign == '{' ? 1 : 0;
        depth -= sign == ')' || sign == ']' || sign == '}' ? 1 : 0;
    }
}

/// Behind the bracket that closes the one at this token.
std::size_t PythonReader::endOfBrackets(std::size_t at) const
{
    std::size_t depth = 0;
    for (; m_tokens[at].kind != Kind::End; ++at) {
        if (m_tokens[at].kind != Kind::Sign) {
            continue;
        }
        const char sign = m_tokens[at].text.front();
        depth += sign == '(' || sign == '[' || sign == '{' ? 1 : 0;
        if ((sign == ')' || sign == ']' || sign == '}') && --depth == 0) {
            return at + 1;
        }
    }
    return at;
}

/// A literal, or a name that stands for one.
std::optional<FlagValue> PythonReader::simpleValue(std::size_t begin, std::size_t end) const
{
    FlagValue value;
    const PythonToken& first = m_tokens[begin];
    const bool isNegative = first.kind == Kind::Sign && first.text == "-" && end == begin + 2;
    const PythonToken& literal = m_tokens[isNegative ? begin + 1 : begin];
    if (end != begin + (isNegative ? 2U : 1U)) {
        return std::nullopt;
    }
    value.begin = first.begin;
    value.end = literal.end;
    value.text = (isNegative ? "-" : "") + literal.text;
    if (literal.kind == Kind::Number) {
        return value;
    }
    if (isNegative || literal.quote == 'x') {
        return std::nullopt;
    }
    if (literal.kind == Kind::String) {
        value.style = literal.quote == '"' ? ScalarStyle::DoubleQuoted : ScalarStyle::SingleQuoted;
        return value;
    }
    if (literal.kind != Kind::Name || literal.text == "True" || literal.text == "False") {
        return literal.kind == Kind::Name ? std::optional(value) : std::nullopt;
    }
    if (literal.text == "None") {
        value.text = "null";
        return value;
    }
    const auto variable = m_places.find(childKey({}, literal.text));
    if (variable == m_places.end()) {
        return std::nullopt;
    }
    FlagValue result = m_syntax->values[variable->second];
    result.sources.push_back(result.key);
    result.siteBegin = literal.begin;
    result.siteEnd = literal.end;
    result.isDefinition = false;
    result.viaAlias = true;
    return result;
}

/// 8 * 2048, with names put in.
std::optional<FlagValue> PythonReader::arithmetic(std::size_t begin, std::size_t end) const
{
    FlagValue value;
    std::string expression;
    for (std::size_t at = begin; at < end; ++at) {
        const PythonToken& part = m_tokens[at];
        if (part.kind == Kind::Name) {
            const auto known = simpleValue(at, at + 1);
            if (!known || !known->isKnown || !parseInteger(known->text)) {
                return std::nullopt;
            }
            expression += "(" + known->text + ")";
            value.sources.insert(value.sources.end(), known->sources.begin(), known->sources.end());
        } else if (part.kind == Kind::Number || part.kind == Kind::Sign) {
            expression += part.text;
        } else {
            return std::nullopt;
        }
    }
    if (const auto number = evaluateIntegers(expression, true)) {
        value.text = std::to_string(*number);
    } else if (const auto ratio = ratioOf(expression)) {
        value.text = formatReal(*ratio);
    } else {
        return std::nullopt;
    }
    value.begin = m_tokens[begin].begin;
    value.end = m_tokens[end - 1].end;
    value.viaAlias = !value.sources.empty();
    return value;
}

/// One value up to the token `end`; what is not understood is kept as it is written, not known.
void PythonReader::readExpression(const std::string& path, std::size_t end)
{
    if (end == m_at) {
        return;
    }
    std::size_t begin = m_at;
    m_at = end;
    // os.environ.get("X", "1"), os.getenv("X", 1): the default; int(…) and the like around it don't change it.
    while (end - begin > 3 && m_tokens[begin].kind == Kind::Name && m_tokens[begin + 1].text == "("
           && (m_tokens[begin].text == "int" || m_tokens[begin].text == "float" || m_tokens[begin].text == "bool")) {
        begin += 2;
        --end;
    }
    if (end - begin > 5 && m_tokens[begin].text == "os" && m_tokens[end - 1].text == ")") {
        const std::size_t comma = end - 3;
        if (m_tokens[comma].text == "," && m_tokens[comma - 1].kind == Kind::String
            && m_tokens[comma - 2].text == "(") {
            begin = comma + 1;
            --end;
        }
    }
    auto value = simpleValue(begin, end);
    value = value ? value : arithmetic(begin, end);
    if (!value) {
        value.emplace();
        value->begin = m_tokens[begin].begin;
        value->end = m_tokens[end - 1].end;
        value->text = m_bytes.substr(value->begin, value->end - value->begin);
        value->isKnown = false;
    }
    value->key = path;
    value->line = lineOf(value->begin);
    value->isDefinition = path.find_first_of(".[") == std::string::npos;
    add(std::move(*value));
}

/// name(…), a.b(…): the arguments below the path; the name itself where it is no dict.
bool PythonReader::readCall(const std::string& path, int depth, std::size_t end)
{
    std::size_t length = 0;
    while (token(length).kind == Kind::Name && isSign(".", length + 1)) {
        length += 2;
    }
    if (token(length).kind != Kind::Name || !isSign("(", length + 1) || endOfBrackets(m_at + length + 1) != end) {
        return false;
    }
    const std::string name = token(length).text;
    const bool isNamespace = name == "dict" || name == "Config";
    const bool isObject = name.front() >= 'A' && name.front() <= 'Z';
    if (!isNamespace && !isObject) {
        return false;
    }
    if (name != "dict" && !path.empty()) {
        FlagValue value;
        value.key = path;
        value.begin = token(0).begin;
        value.end = token(length).end;
        value.text = m_bytes.substr(value.begin, value.end - value.begin);
        value.line = lineOf(value.begin);
        add(std::move(value));
    }
    m_at += length + 2;
    readArguments(isNamespace ? path : childKey({}, name), depth + 1);
    return true;
}

/// name=value, … up to the closing bracket.
void PythonReader::readArguments(const std::string& path, int depth)
{
    PythonContainer container;
    container.path = path;
    container.begin = m_tokens[m_at - 1].begin;
    while (token().kind != Kind::End && !isSign(")")) {
        const std::size_t before = m_at;
        if (token().kind == Kind::Name && isSign("=", 1)) {
            container.lastBegin = token().begin;
            const std::string key = childKey(path, token().text);
            m_at += 2;
            readValue(key, depth);
            container.lastEnd = m_tokens[m_at - 1].end;
        } else {
            m_at = endOfValue();
        }
        container.hasComma = isSign(",");
        m_at = std::max(m_at + (isSign(",") ? 1 : 0), before + (isSign(")") ? 0 : 1));
    }
    container.end = token().begin;
    m_syntax->containers.push_back(container);
    m_at += isSign(")") ? 1 : 0;
}

/// [ … ] and { "key": value, … }.
void PythonReader::readDisplay(const std::string& path, int depth)
{
    PythonContainer container;
    container.path = path;
    container.isDict = isSign("{");
    container.begin = token().begin;
    const std::string close = container.isDict ? "}" : "]";
    ++m_at;
    for (std::size_t index = 0; token().kind != Kind::End && !isSign(close); ++index) {
        const std::size_t before = m_at;
        if (!container.isDict) {
            readValue(elementKey(path, index), depth);
        } else if (token().kind == Kind::String && isSign(":", 1)) {
            container.lastBegin = token().begin;
            container.quote = token().quote;
            const std::string key = childKey(path, token().text);
            m_at += 2;
            readValue(key, depth);
            container.lastEnd = m_tokens[m_at - 1].end;
        } else {
            m_at = endOfValue();
        }
        container.hasComma = isSign(",");
        m_at = std::max(m_at + (isSign(",") ? 1 : 0), before + (isSign(close) ? 0 : 1));
    }
    container.end = token().begin;
    if (container.isDict) {
        m_syntax->containers.push_back(container);
    }
    m_at += isSign(close) ? 1 : 0;
}

void PythonReader::readValue(const std::string& path, int depth)
{
    const std::size_t end = endOfValue();
    if (depth < maxDepth) {
        const bool isDisplay = (isSign("[") || isSign("{")) && endOfBrackets(m_at) == end;
        if (isDisplay) {
            return readDisplay(path, depth + 1);
        }
        if (readCall(path, depth, end)) {
            return;
        }
    }
    readExpression(path, end);
}

void PythonReader::readStatement()
{
    const PythonToken& first = token();
    const bool isTop = first.column == 0;
    if (isTop && first.kind == Kind::Name) {
        std::string path = childKey({}, first.text);
        std::size_t length = 1;
        if (isSign(":", 1) && token(2).kind == Kind::Name) { // name: type = value
            length = isSign("=", 3) ? 3 : length;
        }
        if (isSign("=", length)) {
            m_at += length + 1;
            readValue(path, 0);
        }
    } else if (first.text == "return" && !m_hasReturn) {
        ++m_at;
        m_hasReturn = readCall({}, 0, endOfValue());
    }
    while (token().kind != Kind::NewLine && token().kind != Kind::End) {
        ++m_at;
    }
    m_at += token().kind == Kind::NewLine ? 1 : 0;
}

SyntaxReading PythonReader::read()
{
    while (token().kind != Kind::End) {
        readStatement();
    }
    std::erase_if(m_syntax->values, [](const FlagValue& value) { return value.key.empty(); });
    SyntaxReading reading{{}, std::move(m_problems), m_syntax};
    reading.settings.assign(m_syntax->values.begin(), m_syntax->values.end());
    std::stable_sort(reading.settings.begin(), reading.settings.end(),
                     [](const Setting& a, const Setting& b) { return a.line < b.line; });
    return reading;
}

} // namespace

Result<SyntaxReading> readPythonSyntax(const std::string& bytes, const std::string& name)
{
    SyntaxReading reading = PythonReader(bytes, name).read();
    if (reading.settings.empty()) {
        return failure(Text{HEADROOM_TR("core", "the file assigns no values")}, name);
    }
    return reading;
}

} // namespace headroom
