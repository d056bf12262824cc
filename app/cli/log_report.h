// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "json.h"

#include "insight/run_summary.h"
#include "runlog/log_arguments.h"
#include "runlog/out_of_memory.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What the command `log` tells of a Run besides its columns.
struct LogReport
{
    const Run* run = nullptr;
    RunSummary summary;
    std::vector<LogArgument> arguments;
    std::optional<TrainingPlan> plan; ///< of the arguments, where they are understood
    std::optional<Bytes> capacity;
    std::vector<OutOfMemory> outOfMemory;
    std::optional<double> stepSeconds, tokensPerSecond; ///< medians
    std::optional<double> lastLoss;
};

[[nodiscard]] LogReport reportOf(const Run& run);

/// The JSON of `log` with the `count` largest records.
[[nodiscard]] Json logJson(const LogReport& report, const std::vector<Finding>& findings, std::size_t count);

/// The measurements for people: peaks of each phase, the `count` largest, what failed, what was inferred.
void printLogReport(const LogReport& report, const std::vector<Finding>& findings, std::size_t count);

/// The measurements from `first` on as comma-separated values, one line each; `header` puts the names of the columns
/// before.
void printLogCsv(const Run& run, std::size_t first, bool header);

} // namespace headroom::cli
