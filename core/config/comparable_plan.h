// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

namespace headroom {

/// The plan in the one form that all formats' ways of saying the same come down to: every term of the batch that the
/// others determine, chunks instead of layers per chunk, types instead of the name of their recipe, nothing of a
/// recompute that is off, and for a known model what the estimate takes where nobody said anything.
[[nodiscard]] TrainingPlan comparable(TrainingPlan plan);

} // namespace headroom
