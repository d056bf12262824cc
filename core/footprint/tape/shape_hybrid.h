// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/linear_mixer.h"
#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What a rank sees of a hybrid's layers.
struct HybridShape
{
    std::vector<LayerKind> layers; ///< of the whole model; empty: it is no hybrid
    std::vector<LayerKind> predictor; ///< the layers of a multi-token prediction
    LinearMixer mixer; ///< this rank's share
    bool repeatsPredictor = false; ///< one layer makes all predictions
    bool hasAttentionGate = false, hasSharedGate = false;

    [[nodiscard]] bool isPresent() const { return !layers.empty(); }
};

/// Every tensor of a mixer stays far below 2^63 bytes.
[[nodiscard]] bool isMixerComputable(const LinearMixer& mixer, std::int64_t tokens, std::int64_t hidden,
                                     std::int64_t layers);

struct RankShape;

/// Fills in `shape.hybrid`, whose other parts are there already. Fails with the value that is impossible or not
/// described.
[[nodiscard]] Result<void> readHybrid(const TrainingPlan& plan, RankShape& shape);

} // namespace headroom
