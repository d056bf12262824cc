// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/python_reader.h"

#include "config/integer_arithmetic.h"
#include "config/key_path.h"
#include "units/number.h"

#include <algorithm>
#include <utility>

namespace headroom {

namespace {

constexpr int maxDepth = 60;

} // namespace

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
    const auto parameter = m_parameters.find(literal.text);
    const auto variable = m_places.find(childKey({}, literal.text));
    if (parameter == m_parameters.end() && variable == m_places.end()) {
        return std::nullopt;
    }
    FlagValue result = parameter != m_parameters.end() ? parameter->second : m_syntax->values[variable->second];
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

void PythonReader::addUnknown(const std::string& path, std::size_t begin, std::size_t end)
{
    FlagValue value;
    value.key = path;
    value.begin = m_tokens[begin].begin;
    value.end = m_tokens[end - 1].end;
    value.text = m_bytes.substr(value.begin, value.end - value.begin);
    value.isKnown = false;
    value.line = lineOf(value.begin);
    value.isDefinition = path.find_first_of(".[") == std::string::npos;
    add(std::move(value));
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
    if (!value && end == begin + 3 && m_tokens[begin].text == "torch" && m_tokens[begin + 1].text == ".") {
        value.emplace(); // torch.bfloat16: a type, which its name says
        value->begin = m_tokens[begin].begin;
        value->end = m_tokens[end - 1].end;
        value->text = m_bytes.substr(value->begin, value->end - value->begin);
    }
    if (!value) {
        return addUnknown(path, begin, end);
    }
    value->key = path;
    value->line = lineOf(value->begin);
    value->isDefinition = path.find_first_of(".[") == std::string::npos;
    add(std::move(*value));
}

/// name(…), a.b(…): the arguments below the path; the name itself where it is no dict. Class.method(…): below both.
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
    const auto isClass = [](const std::string& word) { return word.front() >= 'A' && word.front() <= 'Z'; };
    const bool isObject = isClass(name);
    const bool isOfClass = !isObject && length == 2 && isClass(token().text);
    if (!isNamespace && !isObject && !isOfClass) {
        return false;
    }
    if (isOfClass) {
        const std::size_t begin = m_at;
        m_at += length + 2;
        readArguments(childKey(childKey({}, m_tokens[begin].text), name), depth + 1);
        if (!path.empty()) {
            addUnknown(path, begin, end);
        }
        return true;
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

/// Over the comma behind a value that began at `before`, and over something in any case.
void PythonReader::passValue(std::size_t before, std::string_view close)
{
    m_at = std::max(m_at + (isSign(",") ? 1 : 0), before + (isSign(close) ? 0 : 1));
}

/// name=value, … up to the closing bracket; what stands first without a name is item 0.
void PythonReader::readArguments(const std::string& path, int depth)
{
    PythonContainer container;
    container.path = path;
    container.begin = m_tokens[m_at - 1].begin;
    const std::size_t first = m_at;
    while (token().kind != Kind::End && !isSign(")")) {
        const std::size_t before = m_at;
        if (m_at == first && !path.empty() && endOfValue() == m_at + 1 && simpleValue(m_at, m_at + 1)) {
            readExpression(elementKey(path, 0), m_at + 1);
        } else if (token().kind == Kind::Name && isSign("=", 1)) {
            container.lastBegin = token().begin;
            const std::string key = childKey(path, token().text);
            m_at += 2;
            readValue(key, depth);
            container.lastEnd = m_tokens[m_at - 1].end;
        } else {
            m_at = endOfValue();
        }
        container.hasComma = isSign(",");
        passValue(before, ")");
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
        passValue(before, close);
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

} // namespace headroom
