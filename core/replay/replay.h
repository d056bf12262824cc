// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "allocator/caching_allocator.h"
#include "footprint/footprint.h"
#include "footprint/tape/program.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace headroom {

/// The highest moment within one piece's forward or backward, or within the optimizer's step.
struct TimelinePoint
{
    Phase phase = Phase::Forward;
    std::int32_t chunk = 0;
    std::int32_t microBatch = 0; ///< -1 in the optimizer
    bool isRebuilding = false; ///< a forward run again within a backward
    std::array<Bytes, componentCount> components{}; ///< blocks, so that they sum up to what is allocated
};

/// A stage's memory over some training steps, as the allocator's statistics would show it.
struct StageReplay
{
    Bytes steadyAllocated; ///< after the last step
    Bytes firstStepPeakAllocated, peakAllocated, peakReserved;
    std::array<Bytes, phaseCount> phases{}; ///< allocated peaks of the last step
    Phase peakPhase = Phase::Backward;
    std::array<Bytes, componentCount> components{}; ///< at the peak; blocks
    std::array<Bytes, tensorKindCount> steadyTensors{}, peakTensors{}; ///< requests rounded to 512 bytes
    Bytes steadyRounding, peakRounding; ///< what blocks have beyond that
    Bytes reservedAtEnd, largestFreeBlock; ///< fragmentation: what is cached but not in one piece
    bool isOutOfMemory = false; ///< a request failed; the figures are lower bounds
    std::int64_t events = 0; ///< allocations and frees
    std::int64_t microBatches = 0; ///< of each step, the plan's or fewer
    std::vector<TimelinePoint> timeline; ///< of the last step, when asked for
};

struct ReplayOptions
{
    AllocatorOptions allocator;
    int steps = 3; ///< the first one makes Adam's moments; the third finds the holes of the second
    bool recordsTimeline = false;
    /// Micro-batches that would only repeat what has been are left out, except where the timeline shows them: no figure
    /// but `events` depends on it.
    bool leavesOutRepeats = true;
    /// All micro-batches of a step are walked while that costs no more than this; beyond, only as many, but never fewer
    /// than differ in what is alive.
    std::int64_t mostEvents = 4'000'000;
    std::function<bool()> isCancelled; ///< asked before each step; what a cancelled replay returns means nothing
};

[[nodiscard]] StageReplay replayStage(const ModelProgram& program, const StageProgram& stage,
                                      const ReplayOptions& options = {});

/// Puts the replayed figures in place of the instant ones.
void takeReplay(const StageReplay& replay, StageFootprint& stage);

/// Why replaying every stage is out of the question; nothing where it is not.
[[nodiscard]] std::optional<Text> objectionToReplay(const ModelProgram& program);

/// To replayWithin().
inline constexpr Interval everyStage{Bytes{0}, Bytes{std::numeric_limits<std::int64_t>::max()}};

/// The exact footprint of every stage: estimateInstantly() with the stages' figures from the replay, its reserved bytes
/// included. Where no tape describes the plan they are the textbook's.
[[nodiscard]] Result<void> replay(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint);

/// The same for an instant footprint of this plan and calibration, where only some stages matter: those whose device
/// bytes are at least `worth.low`, the fullest first and until one is above `worth.high`.
[[nodiscard]] Result<void> replayWithin(const TrainingPlan& plan, const Calibration& calibration, Interval worth,
                                        Footprint& footprint);

} // namespace headroom
