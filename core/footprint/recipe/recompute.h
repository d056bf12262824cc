// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/layer_tensors.h"
#include "plan/training_plan.h"

#include <cstdint>

namespace headroom {

/// Which layers of a stage are recomputed.
struct Recompute
{
    enum class Kind : std::uint8_t { None, Modules, Uniform, Block };

    Kind kind = Kind::None;
    std::int64_t group = 1; ///< Uniform: layers that share one stored input
    std::int64_t layers = 0; ///< Block: the first layers of each stage are recomputed one by one
    bool perChunk = false; ///< Block: of each chunk instead, as Megatron-LM's method "block" counts them
    bool everyLayer = false; ///< Block without a number: all of them
    double share = -1; ///< Block: of each chunk's layers, in place of a number; below 0: none is given
    bool vision = false; ///< the vision encoder's layers as well

    /// Block: of one of a stage's chunks with so many layers.
    [[nodiscard]] double blockLayers(double chunkLayers, double chunks) const;
};
/// What the plan really does: `enabled: false` wins over any granularity.
[[nodiscard]] Recompute recomputeOf(const TrainingPlan& plan);

/// Takes out of a layer what the modules build again that the plan names; core attention where it names none.
void dropRebuilt(const RecomputePlan& recompute, bool isMla, LayerTensors& layer);

} // namespace headroom
