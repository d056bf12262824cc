// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <array>
#include <cstdint>

namespace headroom::samples {

/// What a made-up run is like beyond its config.
struct Circumstances
{
    /// Bytes per parameter that the optimizer step needs besides its state: 4 for PyTorch's foreach Adam, which holds
    /// a list of fp32 square roots for all parameters at once, and for Megatron-LM's step, which makes fp32 copies of
    /// 16-bit gradients; 0 for a fused one over fp32 gradients.
    double optimizerTemporary = 0;
    /// The frozen vision tower computes attention scores over all patches of a micro-batch in one matrix, as the eager
    /// implementations with a block mask do: 16-bit scores and their fp32 softmax.
    bool unfusedVisionAttention = false;
};

/// Peak of allocated bytes on one GPU of a pipeline stage in each phase of a step.
///
/// The formulas are evaluated here and not taken from core/footprint: the samples stay the same when the estimate gets
/// better, and the two can be held against each other.
///   parameters    h(a+2g)d + adh + (1+G)hf + norms per layer, as Megatron-LM's theoretical_memory_usage.py counts
///                 them, or 12h² when heads and ffn are unknown; + V·h on the first and on the last stage
///   activations   the tensors that backward needs, after Korthikanti et al., arXiv:2205.05198, section 4, for fused
///                 norms and attention: per token and layer 8h + (2(a+2g)d + 2ad + 4a + 2(G+1)f)/t bytes, or
///                 8h + 24h/t
///   in flight     min(m, p - i) micro-batches on stage i of 1F1B (Narayanan et al., arXiv:2104.04473, section 2.2)
///   logits        6 bytes each on the last stage: 16-bit logits and their fp32 softmax
/// `fill` is the share of the sequence length that the longest sample of the step's micro-batches has. Adam's moments
/// do not exist before the first optimizer step.
[[nodiscard]] std::array<double, phaseCount> peaksOfStage(const TrainingPlan& plan, const Circumstances& circumstances,
                                                          std::int64_t stage, double fill, bool firstStep);

/// The largest tensors that backward adds for a moment: gradients of the MLP's input and of its first projection.
[[nodiscard]] double gradientsInPassing(const TrainingPlan& plan, double fill);

/// Floating-point operations of one step on all GPUs together: 6 per parameter and token, 8 with full recompute.
[[nodiscard]] double operationsPerStep(const TrainingPlan& plan);

} // namespace headroom::samples
