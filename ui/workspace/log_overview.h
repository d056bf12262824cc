// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "runlog/run.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace headroom {

/// What the panels show of a Run beyond what the rules need of it, found in one pass when it is loaded.
struct LogOverview
{
    struct PhasePeak
    {
        std::uint8_t phase = 0;
        std::size_t record = 0;
    };

    std::vector<PhasePeak> phasePeaks; ///< phases that occur, in the order of Run::phaseNames
    std::vector<std::size_t> largest; ///< records by allocated bytes, largest first, at most `topCount`
    std::map<std::int32_t, Bytes> peakOfRank;

    static constexpr std::size_t topCount = 100;
};

[[nodiscard]] LogOverview overviewOf(const Run& run);

/// The measured peak of each pipeline stage, in allocated bytes: pipeline ranks are the slowest to change, as in
/// Megatron-LM's order of groups (tensor, context, data, pipeline), so rank r belongs to stage r·p / world. Empty where
/// no rank of a stage was logged. A log without ranks tells about a stage only when there is just one.
[[nodiscard]] std::vector<std::optional<Bytes>> measuredPerStage(const LogOverview& log, const TrainingPlan& plan);

} // namespace headroom
