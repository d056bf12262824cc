// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <vector>

namespace headroom {

/// The granularity in effect: `enabled: false` wins.
[[nodiscard]] Granularity effectiveGranularity(const TrainingPlan& plan);
[[nodiscard]] std::vector<PlanEdit> granularityEdits(const TrainingPlan& plan, const TrainingPlan& original,
                                                     Granularity granularity);

/// The plan with the edits made, their origin Edited. An edit without a value, or back to what `original` says, takes
/// the field from `original`, origin included. Fails when a field does not take the text.
[[nodiscard]] Result<TrainingPlan> withEdits(TrainingPlan plan, const TrainingPlan& original,
                                             const std::vector<PlanEdit>& edits);

} // namespace headroom
