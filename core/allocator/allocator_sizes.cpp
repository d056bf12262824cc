// SPDX-License-Identifier: GPL-3.0-or-later
#include "allocator/allocator_sizes.h"

#include <bit>

namespace headroom {

std::int64_t nextDivision(std::int64_t bytes, std::int64_t divisions)
{
    const auto floor = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)));
    const std::int64_t step = floor / static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(divisions)));
    return step == 0 ? floor * 2 : (bytes + step - 1) / step * step;
}

} // namespace headroom
