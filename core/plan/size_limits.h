// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/text.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// Why a run can't have this size, below one or far beyond any real run; nothing for one that it can have, and for keys
/// that are not sizes.
[[nodiscard]] std::optional<Text> sizeObjection(std::string_view key, std::int64_t value);

/// The smallest of the upper limits: sizes between one and it are hardly ever objected to.
inline constexpr std::int64_t leastUpperLimit = 64;

} // namespace headroom
