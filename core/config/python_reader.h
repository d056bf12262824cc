// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_syntax.h"
#include "config/python_lexer.h"
#include "config/python_splice.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

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
    using Kind = PythonToken::Kind;

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
    void readParameters();
    void readAssignment(bool isTop);
    void readAttribute(std::size_t target, std::size_t sign);
    void readMaker(std::size_t at);
    void readValue(const std::string& path, int depth);
    bool readCall(const std::string& path, int depth, std::size_t end);
    [[nodiscard]] std::size_t endOfBrackets(std::size_t at) const;
    void readArguments(const std::string& path, int depth);
    void readDisplay(const std::string& path, int depth);
    void readExpression(const std::string& path, std::size_t end);
    void addUnknown(const std::string& path, std::size_t begin, std::size_t end);
    [[nodiscard]] std::size_t endOfValue() const;
    void passValue(std::size_t before, std::string_view close);
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
    std::map<std::string, FlagValue> m_parameters; ///< of the function that is being read, with their defaults
    std::map<std::string, std::size_t> m_makers; ///< name: token of the call that it was assigned
    std::shared_ptr<PythonSyntax> m_syntax = std::make_shared<PythonSyntax>();
    std::vector<Problem> m_problems;
};

} // namespace headroom
