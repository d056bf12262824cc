// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "units/problem.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What one syntax knows of a file beside its settings: how to write a value into it.
class ConfigSyntax
{
public:
    virtual ~ConfigSyntax() = default;

    /// The bytes with one value changed, added or made explicit, and nothing else touched. The caller parses the result
    /// again and compares; `bytes` are those this was read from, `name` stands for the file in messages.
    [[nodiscard]] virtual Result<std::string> spliced(const std::string& bytes, const std::string& name,
                                                      const ConfigEdit& edit) const = 0;
    /// The edit in the form in which the file will state it: a flag has no lists of one.
    [[nodiscard]] virtual ConfigEdit normalised(const ConfigEdit& edit) const { return edit; }
    /// Variables of the environment can be set in it.
    [[nodiscard]] virtual bool setsVariables() const { return false; }
    /// The key's absence says the same as this text, as for a flag that is not given.
    [[nodiscard]] virtual bool isSaidByAbsence(std::string_view /*text*/) const { return false; }

protected:
    ConfigSyntax() = default;
    ConfigSyntax(const ConfigSyntax&) = default;
    ConfigSyntax& operator=(const ConfigSyntax&) = default;
};

struct SyntaxReading
{
    std::vector<Setting> settings; ///< in file order, duplicates resolved
    std::vector<Problem> problems;
    std::shared_ptr<const ConfigSyntax> syntax;
};

/// A text of checked encoding, read by the syntax that its name or its first line tells: YAML and JSON unless it is
/// something else.
[[nodiscard]] Result<SyntaxReading> readSyntax(const std::string& bytes, const std::string& name);

/// YAML, and JSON with // and /* */ comments and trailing commas.
[[nodiscard]] Result<SyntaxReading> readYamlSyntax(const std::string& bytes, const std::string& name);
[[nodiscard]] Result<SyntaxReading> readTomlSyntax(const std::string& bytes, const std::string& name);
/// A shell script: its variables, and the flags of the command that has the most of them. A bare flag is "true"; the
/// program it starts is `script`.
[[nodiscard]] Result<SyntaxReading> readShellSyntax(const std::string& bytes, const std::string& name);

/// A config in Python: assignments, dict(…) and objects with keyword arguments. The arguments of an object are below
/// the name of its class, those of dict and of ….Config below the name that it is assigned to.
[[nodiscard]] Result<SyntaxReading> readPythonSyntax(const std::string& bytes, const std::string& name);

} // namespace headroom
