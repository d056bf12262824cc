// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// What keeps the bytes from being read as UTF-8 text (RFC 3629), with its line: the parsers would stop at some control
/// characters and take others for content, and count replaced bytes where they tell positions.
[[nodiscard]] std::optional<Problem> encodingProblem(std::string_view bytes, const std::string& name);

} // namespace headroom
