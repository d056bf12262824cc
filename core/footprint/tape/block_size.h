// SPDX-License-Identifier: GPL-3.0-or-later
// How large a block the caching allocator takes for a request (theory.md 6.3).
#pragma once

#include <algorithm>
#include <cstdint>

namespace headroom {

/// The next of `divisions` equal steps from one power of two to the next; powers of two stay.
[[nodiscard]] std::int64_t nextDivision(std::int64_t bytes, std::int64_t divisions);

/// Bytes of the block for a request; `divisions`: roundup_power2_divisions, 0 or 1 where that is not set.
[[nodiscard]] inline std::int64_t blockSize(std::int64_t bytes, std::int64_t divisions = 0)
{
    constexpr std::int64_t unit = 512;
    if (divisions > 1 && bytes > unit * divisions) [[unlikely]] {
        return nextDivision(bytes, divisions);
    }
    return std::max(unit, (bytes + unit - 1) & ~(unit - 1));
}

} // namespace headroom
