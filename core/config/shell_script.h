// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A stretch of text and where in the file its characters stand: at a variable's assignment, if they come from there.
struct ShellPiece
{
    std::string text;
    std::size_t begin = 0, end = 0;
    char quote = '\0';
    bool isKnown = true; ///< false: only the running shell knows; `text` is then the expression
    std::vector<std::string> via = {}; ///< variables it came through
    std::size_t siteBegin = 0, siteEnd = 0; ///< the $NAME it last took the place of as a whole
};

using ShellValue = std::vector<ShellPiece>;

/// One argument of a command, after expansion and splitting into words.
struct ShellField
{
    ShellValue pieces;

    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool isKnown() const;
    /// Its characters stand side by side in the file, so that they can be replaced.
    [[nodiscard]] bool isPlaced() const;
    [[nodiscard]] std::size_t begin() const { return pieces.front().begin; }
    [[nodiscard]] std::size_t end() const { return pieces.back().end; }
    [[nodiscard]] std::vector<std::string> via() const;
};

struct ShellVariable
{
    std::vector<ShellValue> items; ///< one for what is no array
    bool isArray = false;
    bool isScalarSetting = true; ///< assigned as a whole, not built up
};

/// What a script does as far as its text tells.
struct ShellScript
{
    std::vector<std::vector<ShellField>> commands;
    std::map<std::string, ShellVariable> variables;
};

/// Walks the script once, without running anything: assignments, arrays and options in strings are followed; of
/// branches whose conditions are known the right one, of others all, so that a variable with several values is not
/// known. Positional parameters are known once `set --` has set them; those of the command line, the environment and
/// command substitutions are not. Expansion ends at 256 KiB.
[[nodiscard]] ShellScript interpretShell(std::string_view text);

/// $1, $@, $*
[[nodiscard]] bool isPositional(std::string_view name);

} // namespace headroom
