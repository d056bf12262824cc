// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/footprint.h"

#include "footprint/elements.h"

namespace headroom {

Bytes StageFootprint::staticState() const
{
    const Elements sum = Elements(component(Component::Parameters).value) + component(Component::Gradients).value
        + component(Component::OptimizerState).value;
    return {sum.value()};
}

std::optional<bool> Footprint::fits() const
{
    if (!capacity || stages.empty()) {
        return std::nullopt;
    }
    return fullest().device <= *capacity;
}

} // namespace headroom
