// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/state_space_scan.h"

#include <algorithm>

namespace headroom {

std::int64_t StateSpaceScan::headSplits() const
{
    const std::int64_t ratio = std::max<std::int64_t>(mixer.heads / mixer.groups, 1);
    const std::int64_t programs = sequences * chunks() * mixer.heads;
    const std::int64_t each = std::clamp<std::int64_t>((programs + processors - 1) / processors, 1, ratio);
    return (ratio + each - 1) / each;
}

std::vector<ScanTemporary> scanBackwardTemporaries(const StateSpaceScan& scan, bool isGated)
{
    const std::int64_t convolved = scan.bytes(scan.mixer.convolved(Mixer::Mamba2)), steps = scan.steps();
    const std::int64_t states = scan.stateElements(), splits = scan.headSplits();
    const std::int64_t shared = 4 * scan.rows() * scan.mixer.groups * scan.mixer.state;
    constexpr std::int64_t rowBlock = 32;
    const std::int64_t blocks = std::max<std::int64_t>(scan.mixer.chunk / rowBlock, 1);
    return {
        {convolved}, // x, B, C again
        {convolved}, // their gradients
        {scan.bytes(scan.mixer.heads)}, // a copy of the time steps
        {steps}, // and the steps, and their sums
        {steps},
        {scan.scores()},
        {4 * states, 9}, // of the chunks alone
        {4 * states, 13}, // passed on
        {4 * states / scan.chunks()},
        {isGated ? scan.bytes(scan.mixer.values()) : 0}, // the gradient behind the gate
        {4 * states, 13}, // gradients of the states
        {scan.element * states}, // states and their gradients for the products
        {scan.element * states},
        {steps},
        {shared * splits, 16}, // B's gradient, which several programs write apart, and its sum
        {shared},
        {steps},
        {shared * splits, 19}, // C's
        {shared},
        {steps},
        {scan.scores() * splits, 22},
        {scan.scores()},
        {steps}, // sums of A's gradient from behind
        {steps * blocks},
        {steps},
    };
}

std::int64_t mostTogether(const std::vector<ScanTemporary>& temporaries)
{
    std::int64_t alive = 0, most = 0;
    for (std::size_t i = 0; i < temporaries.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            alive -= temporaries[k].until == i ? temporaries[k].bytes : 0;
        }
        alive += temporaries[i].bytes;
        most = std::max(most, alive);
    }
    return most;
}

} // namespace headroom
