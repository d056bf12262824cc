// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <array>
#include <cstdint>
#include <optional>

namespace headroom {

/// What the rules need of a Run, gathered in one pass when it is opened, so that a slider tick costs nothing on a log
/// of a million records.
struct RunSummary
{
    std::array<std::optional<std::size_t>, phaseCount> phasePeaks; ///< record of each phase's largest allocated value
    std::optional<std::size_t> peak; ///< of any phase, named or not
    std::optional<std::size_t> reservedPeak; ///< record of the largest reserved value
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::size_t stepCount = 0; ///< distinct (step, rank) changes of the first rank seen
    std::int32_t rankCount = 0; ///< 0: the log names no rank
    std::size_t phasesSeen = 0; ///< distinct phase names
    bool neverFalls = false; ///< no value of any rank is below an earlier one of that rank: statistics not reset

    /// The phase whose peak is the run's, when the log has phases and resets its statistics.
    [[nodiscard]] std::optional<Phase> peakPhase(const Run& run) const;
};

[[nodiscard]] RunSummary summarise(const Run& run);

} // namespace headroom
