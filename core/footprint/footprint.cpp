// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/footprint.h"

#include "footprint/elements.h"

#include <algorithm>

namespace headroom {

Bytes StageFootprint::staticState() const
{
    const Elements sum = Elements(component(Component::Parameters).value) + component(Component::Gradients).value
        + component(Component::OptimizerState).value;
    return {sum.value()};
}

std::size_t fullestOf(const std::vector<StageFootprint>& stages)
{
    const auto fuller = [](const StageFootprint& a, const StageFootprint& b) { return a.device < b.device; };
    return static_cast<std::size_t>(std::max_element(stages.begin(), stages.end(), fuller) - stages.begin());
}

std::optional<bool> Footprint::fits() const
{
    if (!capacity || stages.empty()) {
        return std::nullopt;
    }
    return fullest().device <= *capacity;
}

} // namespace headroom
