// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/outlook/uncertainty.h"
#include "insight/finding.h"
#include "runlog/run.h"

#include <nlohmann/json.hpp>

namespace headroom::cli {

// JSON for programs: keys carry units, bytes are integers, schemas grow and never break.
using Json = nlohmann::ordered_json;

[[nodiscard]] Json toJson(const TrainingPlan& plan);
[[nodiscard]] Json toJson(const StageFootprint& stage);
[[nodiscard]] Json toJson(const TextbookFigures& textbook);
/// Reasons with their bytes on the fullest stage.
[[nodiscard]] Json toJson(const std::vector<UncertaintyReason>& reasons);
[[nodiscard]] Json toJson(const std::vector<Assumption>& assumptions, std::size_t fullestStage);
/// {"ratio", "gpus_ratio", "parts"}: of times for the same samples.
[[nodiscard]] Json toJson(const RelativeStepTime& time);
[[nodiscard]] Json toJson(const std::vector<Finding>& findings);
[[nodiscard]] Json toJson(const std::vector<Problem>& problems);
/// {"max_bytes", "step", "line", "rank", …} of one record.
[[nodiscard]] Json recordJson(const Run& run, std::size_t index);

/// Prints with two blanks of indentation; bytes of a file name that are not UTF-8 are replaced.
void printJson(const Json& json);

} // namespace headroom::cli
