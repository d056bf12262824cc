// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// How the peaks of one rank go over the steps: the largest allocated value within each.
struct StepPeaks
{
    std::size_t steps = 0;
    std::int64_t typical = 0; ///< bytes, median
    std::int64_t first = 0; ///< bytes, of the first step
    std::size_t largest = 0; ///< record of the largest
    std::size_t farAbove = 0; ///< steps more than a tenth above the typical one
    double bytesPerStep = 0; ///< least-squares slope, the first two steps left out
    double correlation = 0; ///< of peak and step, likewise
};

/// The record of the largest allocated value of a rank in a phase.
struct RankPhasePeak
{
    std::int16_t rank = -1;
    std::uint8_t phase = 0;
    std::size_t record = 0;
};

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
    std::vector<RankPhasePeak> rankPeaks; ///< of every rank and phase in the log
    StepPeaks stepPeaks; ///< of the rank that has the peak
    bool neverFalls = false; ///< no value of any rank is below an earlier one of that rank: statistics not reset

    /// The phase whose peak is the run's, when the log has phases and resets its statistics.
    [[nodiscard]] std::optional<Phase> peakPhase(const Run& run) const;
};

[[nodiscard]] RunSummary summarise(const Run& run);

} // namespace headroom
