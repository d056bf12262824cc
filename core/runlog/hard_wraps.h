// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// The width at which a terminal may have broken the lines of this text: that of its longest lines, in characters, when
/// several have it. Logs whose lines are alike have such a width too, so joining must also find more than was found
/// without it.
[[nodiscard]] std::optional<std::size_t> wrapWidth(std::string_view text);

/// The text with lines of the width joined to the next, without a blank; one less by a character has lost its last
/// blank. The line ends of a joined line follow it, so that lines behind keep their numbers.
[[nodiscard]] std::string joinWraps(std::string_view text, std::size_t width);

} // namespace headroom
