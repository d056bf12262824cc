// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

#include <vector>

namespace headroom {

/// Everything that makes the plan impossible or absurd: sizes below one or beyond what a run can have, tensor
/// parallelism that does not divide the heads, more stages than layers, sequence parallelism without tensor
/// parallelism, … Errors make an estimate impossible, warnings do not. File and line are those of the offending value.
[[nodiscard]] std::vector<Problem> validate(const TrainingPlan& plan);

} // namespace headroom
