// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <string_view>
#include <vector>

namespace headroom {

/// A plan of a known model without a config, which has no batch yet, is of the smallest micro-batch and of 4,096
/// tokens. Returns the fields that were set, origin Default.
std::vector<std::string_view> assumeBatch(TrainingPlan& plan);

} // namespace headroom
