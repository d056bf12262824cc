// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct PythonToken
{
    enum class Kind : std::uint8_t { Name, Number, String, Sign, NewLine, End };

    Kind kind = Kind::End;
    std::string text; ///< a string's meaning, otherwise the characters
    std::size_t begin = 0, end = 0; ///< quotes included
    char quote = '\0'; ///< of a string; 'x': a form whose meaning is not read (f"…", b"…", """…""")
    std::size_t column = 0; ///< of the line's first token: how far it is indented
};

/// The tokens of Python source ("Lexical analysis" in the language reference) as far as configs need them: comments are
/// left out, lines joined in brackets and after a backslash. Anything else is a sign of one character (** and // of
/// two).
[[nodiscard]] std::vector<PythonToken> pythonTokens(std::string_view text);

} // namespace headroom
