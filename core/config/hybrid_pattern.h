// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "plan/training_plan.h"
#include "units/problem.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What Megatron-LM makes of a hybrid's arguments: number of layers, multi-token predictions and the pipeline's layout
/// follow from the pattern; without one, older releases (--is-hybrid-model) space attention and MLPs evenly by their
/// shares. `flag` finds an argument. A pattern that is none is reported with its line.
void completeHybrid(TrainingPlan& plan, const std::function<const Setting*(std::string_view)>& flag,
                    const std::string& file, std::vector<Problem>& problems);

/// Megatron-LM models/hybrid/hybrid_layer_allocation.py, _allocate_auto: attention between stretches of Mamba layers of
/// equal length, then MLPs evenly in place of Mamba layers, the last of each stretch first.
[[nodiscard]] std::string evenPattern(std::int64_t layers, double attentionShare, double mlpShare);

} // namespace headroom
