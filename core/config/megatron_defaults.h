// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <vector>

namespace headroom {

/// What Megatron-LM makes of its arguments taken together (megatron/training/arguments.py, validate_args, and
/// tokenizer/tokenizer.py): the MLP's width, heads of keys and values, the image encoder of pretrain_vlm.py, the
/// vocabulary of the tokenizer, layers with experts, the start of a batch-size schedule, sequence parallelism without
/// tensor parallelism. Flags are looked up in the format's scope `args`.
void completeMegatronPlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                          std::vector<Problem>& problems);

} // namespace headroom
