// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_document.h"
#include "config/config_format.h"
#include "plan/training_plan.h"

#include <vector>

namespace headroom {

/// GPT-NeoX scales the stated width of a gated MLP by two thirds, halves it and rounds it up to a multiple of 256
/// (megatron/model/transformer.py, ParallelLinear and LLaMAParallelMLP); without one it is 4h.
void completeGptNeoxPlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                         std::vector<Problem>& problems);

/// Qwen 1 states both halves of its gated MLP as one width (modeling_qwen.py: intermediate_size // 2 each).
void completeHuggingFacePlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                             std::vector<Problem>& problems);

/// InternEvo's MLP is int(hidden · mlp_ratio) wide, rounded up to a multiple of 256 (modules/mlp.py). A `checkpoint`
/// between 0 and 1 is the share of layers that is recomputed.
void completeInternEvoPlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                           std::vector<Problem>& problems);

} // namespace headroom
