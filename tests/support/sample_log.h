// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "support/sample_peaks.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::samples {

enum class LineStyle : std::uint8_t { Plain, RankPrefix, Timestamped };

/// Where a run ends early: in backward on rank 0, with a batch longer than all before.
struct Failure
{
    std::int64_t step = 0;
    double fill = 1;
    double capacity = 0; ///< total memory of the GPU as PyTorch prints it, GiB
};

/// A run to make up: which config it used and how it went.
struct SampleRun
{
    std::string_view id; ///< resources/samples/<id>.yaml and <id>.log
    std::uint64_t seed = 0;
    std::int64_t steps = 400;
    double shortest = 1, longest = 1; ///< range of the fill of ordinary steps (see peaksOfStage)
    Circumstances circumstances;
    LineStyle style = LineStyle::Plain;
    double operationsPerSecond = 0; ///< of one GPU, peak times utilisation
    double firstLoss = 0, lastLoss = 0;
    std::optional<Failure> failure = {};
};

/// The runs of resources/samples.
[[nodiscard]] std::span<const SampleRun> sampleRuns();

/// The log of the run: a label, the arguments as the trainer saw them, one line per step, phase and rank, and what
/// else stands in real logs. The same text for the same input on every machine.
[[nodiscard]] std::string sampleLog(const SampleRun& run, const TrainingPlan& plan);

} // namespace headroom::samples
