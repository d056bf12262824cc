// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Numbers as config files write them, whatever the locale: 4096, 4_096, 1e-5, 0o17, 010 (YAML 1.1: 8 in base 8),
/// 0x10, +3. The whole text must be a number; knowledge of quotes is the caller's.
[[nodiscard]] std::optional<std::int64_t> parseInteger(std::string_view text);
[[nodiscard]] std::optional<double> parseReal(std::string_view text);
/// true/false, yes/no, on/off as YAML 1.1 has them, in any of its capitalisations; 1 and 0 are integers, not bools.
[[nodiscard]] std::optional<bool> parseBool(std::string_view text);

/// 353189888 -> "353,189,888".
[[nodiscard]] std::string formatCount(std::int64_t value);
/// 8291375616 -> "8.29 B", 353189888 -> "353.2 M".
[[nodiscard]] std::string formatCountShort(std::int64_t value);
/// Shortest decimal that reads back as the same number: 16 -> "16", 17.25 -> "17.25".
[[nodiscard]] std::string formatReal(double value);

} // namespace headroom
