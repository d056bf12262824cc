// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::accuracy {

namespace {

using Sized = std::pair<double, TensorKind>;

std::vector<Sized> tensorsOf(const StageReplay& replayed)
{
    std::vector<Sized> all;
    for (int i = 0; i < tensorKindCount; ++i) {
        all.emplace_back(static_cast<double>(replayed.peakTensors[static_cast<std::size_t>(i)].value),
                         static_cast<TensorKind>(i));
    }
    return all;
}

std::string printed(const std::vector<Sized>& tensors, std::size_t most, double whole)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(most, tensors.size()); ++i) {
        text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", nameOf(tensors[i].second),
                            100 * tensors[i].first / whole);
    }
    return text;
}

} // namespace

std::string largestTensors(const StageReplay& replayed)
{
    std::vector<Sized> all = tensorsOf(replayed);
    std::sort(all.rbegin(), all.rend());
    return printed(all, 3, static_cast<double>(replayed.peakAllocated.value));
}

std::string closestTensors(const StageReplay& replayed, double difference)
{
    std::vector<Sized> all = tensorsOf(replayed);
    const double size = std::abs(difference);
    std::erase_if(all, [size](const Sized& tensor) {
        const Component component = componentOf(tensor.second);
        return component <= Component::OptimizerState || tensor.first < size / 4 || tensor.first > size * 4;
    });
    const auto distance
        = [size](const Sized& tensor) { return std::abs(std::log(tensor.first / std::max(size, 1.0))); };
    std::sort(all.begin(), all.end(), [&](const Sized& a, const Sized& b) { return distance(a) < distance(b); });
    return printed(all, 2, static_cast<double>(replayed.peakAllocated.value));
}

} // namespace headroom::accuracy
