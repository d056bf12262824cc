// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {

/// The share of the layers that is recomputed as whole layers, between 0 and 1; none where a number of layers, modules
/// or nothing says which.
[[nodiscard]] inline std::optional<double> recomputedShare(const RecomputePlan& recompute)
{
    const bool isSelective = recompute.granularity.value == Granularity::Selective && recompute.modules.value.empty()
        && !recompute.numLayers.isKnown();
    const bool isFull = recompute.granularity.value == Granularity::Full && recompute.method.value != "block";
    return recompute.fraction.isKnown() && (isFull || isSelective)
        ? std::optional(std::clamp(recompute.fraction.value, 0.0, 1.0))
        : std::nullopt;
}

/// So many of a chunk's layers are that share: the first ones, a rest is left out (InternEvo modeling_*.py,
/// int(num_layers * checkpoint); xtuner v1 model/dense/dense.py, int(num_hidden_layers * recompute_ratio)). A third of
/// the layers is meant to be as many, whatever its digits.
[[nodiscard]] inline double layersOfShare(double share, double layers)
{
    constexpr double digits = 1e-6;
    return std::min(std::floor(share * layers * (1 + digits) + digits), layers);
}

} // namespace headroom
