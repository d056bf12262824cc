// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "footprint/outlook/uncertainty.h"
#include "insight/finding.h"
#include "insight/saved_calibration.h"

#include <string>
#include <vector>

namespace headroom::cli {

// Text for people, shared by the commands.

/// "✗ title" with explanation, places and mend, a blank line between findings.
[[nodiscard]] std::string findingsText(const std::vector<Finding>& findings);
/// Peaks of every stage and what they are made of, in GiB.
[[nodiscard]] std::string stagesText(const Footprint& footprint);
/// Why the figures may be off, and what was assumed.
[[nodiscard]] std::string uncertaintyText(const Uncertainty& uncertainty, const Footprint& footprint);
/// "1.33 × the time for the same samples: recompute +33 %", with the GPUs where their number changes.
[[nodiscard]] std::string stepTimeText(const RelativeStepTime& time);
/// What measured peaks made of the coefficients, and theory beside measurement for the fullest stage.
[[nodiscard]] std::string calibrationText(const Calibrated& calibrated, const TrainingPlan& plan);
[[nodiscard]] std::string calibrationText(const SavedCalibration& saved, const TrainingPlan& plan);
/// The working, indented by depth.
[[nodiscard]] std::string workingText(const std::vector<Term>& terms);
/// "Fits: …", "Close: …, it may not fit", "Does not fit: …" or, without a capacity, where the peak is.
[[nodiscard]] std::string verdictText(const Footprint& footprint);

} // namespace headroom::cli
