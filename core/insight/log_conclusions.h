// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/calibrate.h"
#include "insight/failed_tensor.h"
#include "insight/fit.h"
#include "runlog/out_of_memory.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace headroom {

/// What a run that ran out of memory lacked, and what would have fitted.
struct Shortage
{
    OutOfMemory message; ///< the first: a rank that is gone takes its partners along
    std::vector<FailedTensor> tensors; ///< of the size that was asked for
    std::optional<std::size_t> stage; ///< that it happened on, where the rank says
    Bytes estimated; ///< allocated peak of that stage, else of the fullest
    Bytes unexplained; ///< that the run needed beyond `estimated`, at least; whatever it is, proposals leave it free
    std::optional<FitAnswer> answer; ///< where less memory would have helped and the device's is known
};

/// The largest reserved amount of a log without allocated peaks, beside the estimate.
struct ReservedPeak
{
    std::size_t record = 0;
    std::optional<std::size_t> stage; ///< that it is of; else it may be any
    Interval estimated; ///< of that stage, else from the lowest of all to the highest
};

/// What a log says about the plan of the files beside it, by theory alone. It takes many estimates and changes with log
/// and files only, so whoever holds those keeps it.
struct LogConclusions
{
    std::optional<Calibrated> measured; ///< where the log determines activations
    std::optional<Shortage> shortage; ///< where it has an out-of-memory message
    std::optional<ReservedPeak> reserved; ///< where it has nothing else and there is an estimate
};

/// The plan that a log is of: the files', whatever the knobs say now; null without one.
[[nodiscard]] const TrainingPlan* loggedPlan(const Situation& situation);

/// Needs the situation's run with its summary. What is returned after a stop means nothing.
[[nodiscard]] LogConclusions concludeFromLog(const Situation& situation, const std::stop_token& stop = {});

} // namespace headroom
