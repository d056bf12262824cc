// SPDX-License-Identifier: GPL-3.0-or-later
// The statements of a Python file; the values in them are read in python_reader.cpp. Of an object that a function makes
// (cfg = pretrain_config(…), under `recipe`) the attributes that are set (cfg.train.seed = 1) are keys.
#include "config/key_path.h"
#include "config/python_reader.h"

#include <algorithm>
#include <utility>

namespace headroom {

/// def name(a, b: int = 2, c=3): what the parameters are unless the caller says otherwise.
void PythonReader::readParameters()
{
    m_parameters.clear();
    const std::string function = token(1).text;
    const std::size_t end = endOfBrackets(m_at + 2);
    std::string name;
    for (std::size_t at = m_at + 3; at + 1 < end; ++at) {
        const PythonToken& before = m_tokens[at - 1];
        const bool isFirst = before.text == "(" || before.text == ",";
        name = isFirst && m_tokens[at].kind == Kind::Name ? m_tokens[at].text : name;
        if (m_tokens[at].kind == Kind::Sign && m_tokens[at].text == "=" && !name.empty()) {
            if (auto value = simpleValue(at + 1, at + 2)) {
                value->key = function + "(" + name + ")";
                m_parameters.emplace(name, std::move(*value));
            }
            name.clear();
        }
    }
}

/// The function that made the object whose attributes are set stands under `recipe`, and its arguments below.
void PythonReader::readMaker(std::size_t at)
{
    const std::size_t later = std::exchange(m_at, at);
    std::size_t length = 0;
    while (isSign(".", length + 1)) {
        length += 2;
    }
    FlagValue value;
    value.key = "recipe";
    value.begin = token().begin;
    value.end = token(length).end;
    value.text = m_bytes.substr(value.begin, value.end - value.begin);
    value.line = lineOf(value.begin);
    add(std::move(value));
    m_at += length + 2;
    readArguments("recipe", 1);
    m_at = later;
}

/// object.a.b = value, of the first object of which such attributes are set.
void PythonReader::readAttribute(std::size_t target, std::size_t sign)
{
    PythonObject& object = m_syntax->object;
    const std::string& name = m_tokens[target].text;
    const auto maker = m_makers.find(name);
    if (object.name.empty() && !m_hasReturn && maker != m_makers.end()) {
        object.name = name;
        readMaker(maker->second);
    }
    if (object.name != name) {
        return;
    }
    std::string path;
    for (std::size_t at = target + 2; at < sign; at += 2) {
        path = childKey(path, m_tokens[at].text);
    }
    m_at = sign + 1;
    readValue(path, 0);
    object.lastBegin = m_tokens[target].begin;
    object.lastEnd = m_tokens[m_at - 1].end;
}

/// name = value at the top of the file; further in, where the function's other names are not known, objects alone.
void PythonReader::readAssignment(bool isTop)
{
    const std::size_t target = m_at;
    std::size_t length = 1;
    while (isSign(".", length) && token(length + 1).kind == Kind::Name) {
        length += 2;
    }
    const bool isAttribute = length > 1;
    if (isSign(":", length) && token(length + 1).kind == Kind::Name && isSign("=", length + 2)) {
        length += 2; // name: type = value
    }
    if (!isSign("=", length) || isSign("=", length + 1)) {
        return;
    }
    if (isAttribute) {
        return readAttribute(target, target + length);
    }
    const std::string name = token().text;
    m_at += length + 1;
    const PythonToken& first = token();
    std::size_t call = 0;
    while (token(call).kind == Kind::Name && isSign(".", call + 1)) {
        call += 2;
    }
    if (first.kind == Kind::Name && token(call).kind == Kind::Name && isSign("(", call + 1)) {
        m_makers[name] = m_at;
    }
    if (isTop) {
        readValue(childKey({}, name), 0);
    } else if (!m_hasReturn) {
        readCall(childKey({}, name), 0, endOfValue());
    }
}

void PythonReader::readStatement()
{
    const PythonToken& first = token();
    if (first.text == "def" && token(1).kind == Kind::Name && isSign("(", 2)) {
        readParameters();
    } else if (first.text == "return" && !m_hasReturn && m_syntax->object.name.empty()) {
        ++m_at;
        m_hasReturn = readCall({}, 0, endOfValue());
    } else if (first.kind == Kind::Name) {
        if (first.column == 0) {
            m_parameters.clear();
        }
        readAssignment(first.column == 0);
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

Result<SyntaxReading> readPythonSyntax(const std::string& bytes, const std::string& name)
{
    SyntaxReading reading = PythonReader(bytes, name).read();
    if (reading.settings.empty()) {
        return failure(Text{HEADROOM_TR("core", "the file assigns no values")}, name);
    }
    return reading;
}

} // namespace headroom
