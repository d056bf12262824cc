// SPDX-License-Identifier: GPL-3.0-or-later
// How a PyTorch framework reads what is to be recomputed.
#pragma once

#include "footprint/torch/habits.h"
#include "plan/training_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

[[nodiscard]] bool isRecomputed(const RecomputePlan& recompute);
/// Selective recompute of whole layers, a number or a share of them.
[[nodiscard]] bool recomputesLayers(const RecomputePlan& recompute);
/// And nothing else beside what the policy recomputes anyway.
[[nodiscard]] bool recomputesAttention(const RecomputePlan& recompute);
/// Selective recompute by a policy over operations, torchtitan's; else modules are checkpoints of their own.
[[nodiscard]] bool followsPolicy(const TrainingPlan& plan, const TorchHabits& habits);
/// TorchShape::Module of these names; none where one of them means nothing here. Megatron-LM's, transformers' and
/// OLMo's.
[[nodiscard]] std::optional<std::uint8_t> modulesNamed(const std::vector<std::string>& names);

} // namespace headroom
