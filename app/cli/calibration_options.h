// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "inputs.h"

#include <vector>

namespace headroom::cli {

/// The logs of --calibrate.
[[nodiscard]] Result<std::vector<Run>> readCalibrationLogs(const PlanOptions& options);
/// --calibrate on these logs, or --calibration.
[[nodiscard]] Result<void> applyCalibration(const PlanOptions& options, const std::vector<Run>& logs, Inputs& inputs);

} // namespace headroom::cli
