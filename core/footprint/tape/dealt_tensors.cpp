// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/dealt_tensors.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

std::size_t rankOf(std::size_t turn, std::size_t ranks)
{
    const std::size_t place = turn % (2 * ranks);
    return place < ranks ? place : 2 * ranks - 1 - place;
}

std::size_t fullest(const std::vector<std::int64_t>& sorted, std::size_t ranks)
{
    std::vector<std::int64_t> load(std::min(ranks, sorted.size()) + 1);
    for (std::size_t turn = 0; turn < sorted.size(); ++turn) {
        if (const std::size_t rank = rankOf(turn, ranks); rank < load.size()) {
            load[rank] += sorted[turn];
        }
    }
    return static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
}

} // namespace

std::vector<std::size_t> dealtTensors(const std::vector<std::int64_t>& elements, std::int64_t ranks, std::int64_t rank)
{
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(ranks, 1));
    std::vector<std::size_t> order(elements.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&elements](std::size_t a, std::size_t b) { return elements[a] < elements[b]; });
    std::vector<std::int64_t> sorted;
    for (const std::size_t place : order) {
        sorted.push_back(elements[place]);
    }
    const std::size_t wanted = rank < 0 ? fullest(sorted, count) : static_cast<std::size_t>(rank);
    std::vector<std::size_t> own;
    for (std::size_t turn = 0; turn < order.size(); ++turn) {
        if (rankOf(turn, count) == wanted) {
            own.push_back(order[turn]);
        }
    }
    std::sort(own.begin(), own.end());
    return own;
}

} // namespace headroom
