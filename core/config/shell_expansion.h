// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/shell_lexer.h"
#include "config/shell_script.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Puts the words of commands in place of their expansions.
class ShellExpander
{
public:
    ShellExpander(std::string_view script, const std::map<std::string, ShellVariable>& variables)
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

/// The words of fields that are themselves a command line: of eval, of bash -c.
[[nodiscard]] std::vector<ShellField> splitAgain(const std::vector<ShellField>& fields, std::size_t from);

[[nodiscard]] std::string textOf(const ShellValue& value);
[[nodiscard]] bool isKnown(const ShellValue& value);

} // namespace headroom
