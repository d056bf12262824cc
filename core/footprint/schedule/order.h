// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/schedule.h"

#include <array>
#include <cstdint>
#include <vector>

namespace headroom {

/// One pass of a micro-batch through a chunk of a stage.
struct StagePass
{
    enum class Kind : std::uint8_t {
        Forward,
        Backward, ///< both gradients at once
        InputGradient,
        WeightGradient
    };
    Kind kind = Kind::Forward;
    /// Folded schedules: 0 is the piece from the model's first half. DualPipe: 0 is the direction that passes this
    /// stage in the first half of its way.
    std::size_t chunk = 0;
    std::int64_t microBatch = 0; ///< counted within its direction
};

/// The passes of a stage in the order in which it runs them, for every schedule. Stages that follow their orders and
/// wait for what they need never wait for each other.
[[nodiscard]] std::vector<StagePass> stageOrder(const PipelineShape& pipeline, std::int64_t stage);

/// DualPipe fills its pipeline from both ends: it needs an even number of stages, and of micro-batches at least twice
/// as many as stages (and an even number, DualPipeV aside).
[[nodiscard]] bool canRun(const PipelineShape& pipeline);

/// V-Half and V-Min repeat the passes of one micro-batch, by chunk, every `interval` units of time; a unit is one
/// pass of half a stage (arXiv:2405.15362 section 3). The offsets between stages decide how much is in flight; the gaps
/// between the ways down and up are those with the least in flight for which no two passes of a stage meet. They then
/// hold at most the integer forms of the paper's scheduler: floor((p + 2)/2) and floor((p + 4)/3) micro-batches.
struct VBlock
{
    static constexpr std::int64_t interval = 6;
    std::array<std::int64_t, 2> forward{}, backward{}, weights{};
};
[[nodiscard]] VBlock vBlock(Schedule schedule, std::int64_t stages, std::int64_t stage);

} // namespace headroom
