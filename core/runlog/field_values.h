// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Why the value of a key could not be used.
enum class Fault : std::uint8_t {
    None,
    Missing,
    NotANumber,
    Negative,
    NotFinite,
    TooLarge,
    UnknownUnit,
    NoUnit,
    Grouped, ///< 1,024: a thousands separator or two values
    Placeholder ///< {step}, %d, <n>: source text, not a log line
};

/// A value read from a line: where it ended and what was wrong with it.
template <class T> struct FieldValue
{
    T value{};
    std::size_t end = 0;
    Fault fault = Fault::None;
};

/// The functions read the value that starts at `begin`, right after the equals sign: blanks and an opening quote are
/// skipped, anything that cannot belong to the value ends it.

/// An amount of memory in bytes: a number, then B, KiB, MiB, GiB, TiB, kB, MB, GB or TB in any case, with or without a
/// blank in between. A whole number without a unit is bytes, a fraction without one is a fault. At most 2^50.
[[nodiscard]] FieldValue<std::int64_t> readAmount(std::string_view line, std::size_t begin);
/// A whole number between `smallest` and `largest`; "12/1000" is 12.
[[nodiscard]] FieldValue<std::int64_t> readWhole(std::string_view line, std::size_t begin, std::int64_t smallest,
                                                 std::int64_t largest);
/// Any number, NaN and infinities too: a loss may diverge.
[[nodiscard]] FieldValue<double> readReal(std::string_view line, std::size_t begin);
/// A finite number that is not negative.
[[nodiscard]] FieldValue<float> readRate(std::string_view line, std::size_t begin);
/// The same in seconds: "0.812", "0.812s" or "812ms".
[[nodiscard]] FieldValue<float> readSeconds(std::string_view line, std::size_t begin);
/// A name of at most 64 letters, digits and _ . - /; between quotes blanks too.
[[nodiscard]] FieldValue<std::string_view> readName(std::string_view line, std::size_t begin);

/// The sentence for a fault of `key`, whose value starts at `begin`.
[[nodiscard]] Text faultText(Fault fault, std::string_view key, std::string_view line, std::size_t begin);

} // namespace headroom
