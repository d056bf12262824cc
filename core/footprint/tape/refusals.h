// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

namespace headroom {

/// Fails with the value that is missing, or with what Megatron's tapes do not describe.
[[nodiscard]] Result<void> checkDescribed(const TrainingPlan& plan);

} // namespace headroom
