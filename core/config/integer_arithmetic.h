// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// + - * / // % ** and parentheses over whole numbers, as shells and Python have them: "8 * (2 + 1)". Nothing for
/// anything else, a division by zero or that leaves a rest (by /, where `hasExactDivision`), and what leaves 64 bits.
[[nodiscard]] std::optional<std::int64_t> evaluateIntegers(std::string_view expression, bool hasExactDivision);

/// 8 / 3, the one division that configs are full of.
[[nodiscard]] std::optional<double> ratioOf(std::string_view expression);

} // namespace headroom
