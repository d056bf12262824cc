// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <vector>

namespace headroom {

/// What is odd about a file that was read: names that are not known, keys in known blocks that mean nothing, recompute
/// settings that contradict one another. Derives recompute.enabled where only a granularity is written.
void checkReading(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                  std::vector<Problem>& problems);

} // namespace headroom
