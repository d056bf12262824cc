// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which sizes blocks and segments have (theory.md 6.3); names and values of c10/cuda/CUDACachingAllocator.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headroom {

constexpr std::int64_t minBlockSize = 512;
constexpr std::int64_t smallSize = std::int64_t{1} << 20;
constexpr std::int64_t smallBuffer = std::int64_t{2} << 20;
constexpr std::int64_t largeBuffer = std::int64_t{20} << 20;
constexpr std::int64_t minLargeAlloc = std::int64_t{10} << 20;
constexpr std::int64_t roundLarge = std::int64_t{2} << 20;

constexpr std::int64_t roundUp(std::int64_t value, std::int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

constexpr std::int64_t roundDown(std::int64_t value, std::int64_t unit)
{
    return value / unit * unit;
}

/// The next of `divisions` equal steps from one power of two to the next; powers of two stay.
[[nodiscard]] std::int64_t nextDivision(std::int64_t bytes, std::int64_t divisions);

/// Bytes of the block for a request; `divisions`: roundup_power2_divisions, 0 or 1 where that is not set.
[[nodiscard]] inline std::int64_t blockSize(std::int64_t bytes, std::int64_t divisions = 0)
{
    if (divisions > 1 && bytes > minBlockSize * divisions) [[unlikely]] {
        return nextDivision(bytes, divisions);
    }
    return std::max(minBlockSize, (bytes + minBlockSize - 1) & ~(minBlockSize - 1));
}

/// Whether a block comes from the pool of small ones.
constexpr bool isSmallBlock(std::int64_t size)
{
    return size <= smallSize;
}

/// Bytes of the segment for a block where no free one fits.
constexpr std::int64_t segmentSize(std::int64_t size)
{
    return isSmallBlock(size) ? smallBuffer : size < minLargeAlloc ? largeBuffer : roundUp(size, roundLarge);
}

/// Whether what is left of a large block stays with it, unless segments grow as they are needed.
constexpr bool isRest(std::int64_t left)
{
    return left <= smallSize;
}

} // namespace headroom
