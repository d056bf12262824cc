// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"

#include <cstdint>

namespace headroom {

struct PipelineShape
{
    Schedule schedule = Schedule::OneForwardOneBackward;
    std::int64_t stages = 1; ///< p
    std::int64_t chunks = 1; ///< v: model chunks of a stage, for interleaving
    std::int64_t microBatches = 1; ///< m, per step
    std::int64_t group = 0; ///< micro-batches of a chunk run in a row when interleaving; 0: p
    std::int64_t extra = 0; ///< micro-batches that each stage of 1F1B holds beyond its own
};

/// What one stage holds of unfinished micro-batches at its fullest moment.
struct InFlight
{
    double units = 1; ///< in activations of the stage's layers for one micro-batch
    /// Micro-batches whose activations of the stage's first chunk are held: what the vision encoder pays.
    std::int64_t firstChunk = 1;

    /// Whole micro-batches, for display: 5.5 units are six.
    [[nodiscard]] std::int64_t microBatches() const;
};

/// Closed forms of theory.md 4.1. `weightShare` is the part of a micro-batch's activations that the zero-bubble
/// schedules still hold between the input-gradient and the weight-gradient pass (M_W/M_B): 1 assumes that nothing is
/// released before the weight gradient, as the schedule's own planner does in its safe mode. V-Half and V-Min
/// count the passes of their building block; DualPipe needs twice as many micro-batches as stages, with fewer its count
/// is a bound.
[[nodiscard]] InFlight inFlight(const PipelineShape& pipeline, std::int64_t stage, double weightShare = 1.0);

/// Forward passes of chunks that an interleaved stage runs before its first backward pass (Megatron-LM
/// pipeline_parallel/schedules.py).
[[nodiscard]] std::int64_t warmupChunks(const PipelineShape& pipeline, std::int64_t stage);

/// What a stage takes for one micro-batch, in any unit.
struct PassTimes
{
    double forward = 1, inputGradient = 1, weightGradient = 1;
    /// A forward and a whole backward run together, where the schedule overlaps them (DualPipe); 0: as long as both.
    double overlapped = 0;

    [[nodiscard]] double backward() const { return inputGradient + weightGradient; }
};

/// Time per step for which a stage waits for the others, in the unit of `times` (theory.md 4.1; arXiv:2104.04473
/// section 2.2, arXiv:2401.10241 section 2, arXiv:2405.15362, deepseek-ai/DualPipe). One stage waits for none.
[[nodiscard]] double bubbleTime(const PipelineShape& pipeline, const PassTimes& times = {});
/// The part of a step that this is: bubble / (m (F + B) + bubble).
[[nodiscard]] double bubbleFraction(const PipelineShape& pipeline, const PassTimes& times = {});

/// Interleaving only happens with several stages and chunks; one stage runs one micro-batch after the other.
[[nodiscard]] PipelineShape effectivePipeline(PipelineShape pipeline);

/// Copies of the layers a GPU holds: DualPipe runs the pipeline from both ends.
[[nodiscard]] constexpr std::int64_t layerCopies(Schedule schedule)
{
    return schedule == Schedule::DualPipe ? 2 : 1;
}
/// The stage's layers are two pieces, one from each half of the model, so the first stage also holds the head.
[[nodiscard]] constexpr bool isFolded(Schedule schedule)
{
    return schedule == Schedule::ZbV || schedule == Schedule::VHalf || schedule == Schedule::VMin
        || schedule == Schedule::DualPipeV;
}
/// Weight gradients are computed apart from the gradients of the inputs, sometimes later.
[[nodiscard]] constexpr bool splitsBackward(Schedule schedule)
{
    return schedule == Schedule::ZbH1 || schedule == Schedule::ZbH2 || schedule == Schedule::DualPipe
        || isFolded(schedule);
}

} // namespace headroom
