// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/working.h"

namespace headroom {

/// Floating-point operations of one token's forward pass through one layer of the whole model, two for each
/// multiply-add (theory.md 8.1). Norms and other element-wise work are not counted.
struct LayerFlops
{
    double projections = 0; ///< attention's linear layers
    double scores = 0; ///< q·kᵀ and p·v
    double mlp = 0; ///< a dense MLP, or router and shared experts
    double routed = 0; ///< top-k experts, balanced routing

    [[nodiscard]] double total() const { return projections + scores + mlp + routed; }
};

/// `keys`: how many keys a query meets on average; half the sequence where the kernel skips what causality masks.
[[nodiscard]] LayerFlops denseLayerFlops(const Architecture& model, double keys);
[[nodiscard]] LayerFlops expertLayerFlops(const Architecture& model, double keys);
/// The output layer, per token.
[[nodiscard]] double headFlops(const Architecture& model);

/// What one GPU of a stage computes for one micro-batch. Backward splits into the gradients of inputs and of weights,
/// as zero-bubble schedules do; frozen weights have none of the latter (theory.md 2.5).
struct StageFlops
{
    double forward = 0, inputGradients = 0, weightGradients = 0;
    double recomputed = 0; ///< forward work that backward repeats
    double scores = 0; ///< the part of `forward` within attention

    [[nodiscard]] double total() const { return forward + inputGradients + weightGradients + recomputed; }
};
[[nodiscard]] StageFlops stageFlops(const TrainingPlan& plan, const Working& working, const StageLayers& layers);

/// Keys a query meets on average: the sequence or the attention window, half of it under causal masking where the
/// attention kernel skips masked blocks (flash and cuDNN do, explicit scores do not).
[[nodiscard]] double averageKeys(const TrainingPlan& plan);

} // namespace headroom
