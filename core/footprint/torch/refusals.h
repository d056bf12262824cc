// SPDX-License-Identifier: GPL-3.0-or-later
// What the tapes of PyTorch frameworks do not describe.
#pragma once

#include "footprint/torch/shape.h"

namespace headroom {

/// Fails with what is missing or impossible, or with why no tape describes the plan and what to change.
[[nodiscard]] Result<void> checkTorchDescribed(const TrainingPlan& plan, const TorchHabits& habits);

} // namespace headroom
