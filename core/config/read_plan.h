// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <string>
#include <vector>

namespace headroom {

struct PlanReading
{
    TrainingPlan plan;
    std::vector<Problem> problems; ///< values not understood, unknown keys, contradictions of the file with itself
    std::vector<std::string> notEstimated; ///< keys whose effect on memory no field says; also among the problems
};

/// The plan a document states, each value with file and line. `catalog` resolves preset names. Values that mean nothing
/// leave their field unknown and are problems, as are contradictions of the file with itself. Recompute is read as it
/// is written; where only the granularity is, `enabled` is derived from it, and a note says so (configs.md, base
/// format).
[[nodiscard]] PlanReading readPlan(const ConfigDocument& document, const ConfigFormat& format, const Catalog& catalog);

/// The edits that make `document` state the fields in which `after` differs from `before`; refused for a field the
/// format has no key for, and for one that describes the model but comes from a preset or another file.
[[nodiscard]] Result<std::vector<ConfigEdit>> editsFor(const ConfigDocument& document, const ConfigFormat& format,
                                                       const TrainingPlan& before, const TrainingPlan& after);

} // namespace headroom
