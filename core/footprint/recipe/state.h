// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/parameters.h"
#include "plan/training_plan.h"

#include <cstdint>
#include <string_view>

namespace headroom {

enum class OptimizerKind : std::uint8_t { Adam, Sgd, Momentum, Adafactor, Muon };

/// "adamw", "paged_adamw_8bit", "sgd", "sgd_momentum", "lion", "adafactor", "muon", …; Adam for names not known.
[[nodiscard]] OptimizerKind optimizerKind(std::string_view name);
[[nodiscard]] OptimizerKind optimizerOf(const TrainingPlan& plan); ///< by its name, or by that of the recipe

struct ShardedParts
{
    bool optimizer = false, gradients = false, parameters = false;
};
/// ZeRO stage 1 shards the optimizer, 2 the gradients too, 3 and FSDP everything.
[[nodiscard]] ShardedParts shardedParts(const ShardPlan& shard);

/// Of so many replicas of a weight, those that share one copy of the state: data and context parallel ranks reduce
/// together (theory.md 2.2), within an instance where hybrid sharding keeps several copies.
[[nodiscard]] std::int64_t shardingRanks(const TrainingPlan& plan, std::int64_t replicas);

/// Bytes per trainable parameter (theory.md 2.1), before any sharding.
struct StateRecipe
{
    double parameter = 2;
    double otherParameter = 2; ///< of tables and vectors, which stay 16-bit when the matrices are quantised
    double frozen = 2, otherFrozen = 2; ///< the same of weights that are not trained
    double eightBitCopies = 0; ///< of a matrix element: what Transformer Engine multiplies, cached from step to step
    double gradient = 2;
    double gradientCopy = 0; ///< fp32 copy that fp16 training makes at the step and keeps until gradients are zeroed
    double master = 4;
    double moments = 8; ///< per element of a matrix
    double otherMoments = 8; ///< of tables and vectors: Muon leaves them to Adam
    double factored = 0; ///< per row and column: Adafactor
    double adapter = 4, adapterMoments = 8; ///< of adapters, and so much again of their gradients
    bool keepsReference = false; ///< a frozen copy of the whole model stands beside it
    bool copiesTables = false; ///< with adapters, copies of the tables are trained too
    /// Gradients live in a buffer that is there from the start (theory.md 5.1).
    bool gradientsPersist = false;

    /// Of a matrix element: 16 in the textbook.
    [[nodiscard]] double total() const
    {
        return parameter + eightBitCopies + gradient + gradientCopy + master + moments;
    }
};
[[nodiscard]] StateRecipe stateRecipe(const TrainingPlan& plan);

/// Among how many GPUs each part of the state is divided (theory.md 2.2 to 2.4), and what of it stays on the GPU.
struct Sharding
{
    double parameters = 1, gradients = 1, optimizer = 1;
    double expertParameters = 1, expertGradients = 1, expertOptimizer = 1;
    double parametersOnGpu = 1, gradientsOnGpu = 1, optimizerOnGpu = 1; ///< less where offloaded
    double visionParameters = 1, visionGradients = 1, visionOptimizer = 1; ///< of image encoder and projector
};
[[nodiscard]] Sharding shardingOf(const TrainingPlan& plan, const Split& split);

/// Static state of one GPU, in bytes.
struct StateBytes
{
    double parameters = 0, gradients = 0, gradientCopies = 0, master = 0, moments = 0;

    [[nodiscard]] double total() const { return parameters + gradients + gradientCopies + master + moments; }
};

/// Frozen parts cost their storage and nothing else (theory.md 2.5). `trainedShare`: of the language model, where parts
/// of it are frozen.
[[nodiscard]] StateBytes stateBytes(const StageWeights& weights, const StateRecipe& recipe, const Sharding& sharding,
                                    const Trainable& trainable, double trainedShare = 1);

} // namespace headroom
