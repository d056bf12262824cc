// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/loss_check.h"

#include <QFuture>

#include <filesystem>
#include <memory>
#include <vector>

namespace headroom {

/// What sets the losses of two runs apart, with the runs.
struct LossReport
{
    LossSeries first, second;
    LossComparison comparison;
    std::vector<Finding> findings;
    std::vector<Problem> problems; ///< lines that were not understood
};
using LossAnswer = std::shared_ptr<const Result<LossReport>>;

/// Reads both files and compares them away from the window. Fails as readLosses() and compareLosses() do.
[[nodiscard]] QFuture<LossAnswer> compareLossFiles(const std::filesystem::path& first,
                                                   const std::filesystem::path& second);

} // namespace headroom
