// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/loss_check.h"
#include "workspace/library.h"

#include <QFuture>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// What sets the losses of two runs apart, with the runs.
struct LossReport
{
    LossSeries first, second;
    LossComparison comparison;
    std::optional<TrainingPlan> firstPlan, secondPlan; ///< by the arguments that a log lists
    std::vector<Problem> problems; ///< lines that were not understood
};
using LossAnswer = std::shared_ptr<const Result<LossReport>>;

/// The plans of both runs where they are known.
struct LossPlans
{
    std::optional<TrainingPlan> first, second;
};

/// Reads both files and compares them away from the window. Fails as readLosses() and compareLosses() do.
[[nodiscard]] QFuture<LossAnswer> compareLossFiles(const std::filesystem::path& first,
                                                   const std::filesystem::path& second,
                                                   std::shared_ptr<const Library> library);
/// What sets the losses apart, looked up in the plans too: a log's own arguments, else those given. Says so where that
/// would tell more.
[[nodiscard]] std::vector<Finding> findingsOf(const LossReport& report, const LossPlans& plans);

} // namespace headroom
