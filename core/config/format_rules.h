// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <string_view>
#include <vector>

namespace headroom {

/// A data file may name these as its `rules`.
[[nodiscard]] bool isFormatRule(std::string_view name);

/// Runs the rules of the format, for what its data file can't say: values that follow from several others. Does nothing
/// for a format without.
void completePlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                  std::vector<Problem>& problems);

} // namespace headroom
