// SPDX-License-Identifier: GPL-3.0-or-later
// Names and values of c10/cuda/CUDACachingAllocator.cpp.
#pragma once

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

} // namespace headroom
