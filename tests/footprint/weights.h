// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/parameters.h"
#include "footprint/recipe/state.h"
#include "footprint/working.h"

#include <cstdint>

namespace headroom::test {

/// Parameters of the whole model.
inline std::int64_t parametersOf(const TrainingPlan& plan)
{
    return modelParameters(architectureOf(plan), visionTowerOf(plan), projectorOf(plan));
}

/// Weights of one GPU of a stage.
inline StageWeights weightsOf(const TrainingPlan& plan, std::int64_t stage)
{
    return stageWorking(workingOf(plan, {}), PipelineSplit::of(plan).value(), stage).weights;
}

/// A language model of so many weights in matrices.
inline StageWeights matrices(std::int64_t count)
{
    StageWeights weights;
    weights.language.matrices = count;
    return weights;
}

/// Bytes of state that a plan keeps of weights.
inline StateBytes stateOf(const TrainingPlan& plan, const StageWeights& weights)
{
    return stateBytes(weights, stateRecipe(plan), shardingOf(plan, splitOf(plan)), trainableOf(plan));
}

} // namespace headroom::test
