// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/parameters.h"
#include "footprint/tape/shape.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace headroom {

namespace {

/// 0 for names that mean no linear layer of a block.
unsigned targetsNamed(std::string_view name)
{
    using T = Adapters;
    constexpr std::array<std::pair<std::string_view, unsigned>, 31> names{{
        {"q_proj", T::Query},
        {"k_proj", T::Key},
        {"v_proj", T::Value},
        {"o_proj", T::Output},
        {"gate_proj", T::MlpIn},
        {"up_proj", T::MlpIn},
        {"down_proj", T::MlpOut},
        {"c_attn", T::Query | T::Key | T::Value},
        {"query_key_value", T::Query | T::Key | T::Value},
        {"qkv_proj", T::Query | T::Key | T::Value},
        {"linear_qkv", T::Query | T::Key | T::Value},
        {"qkv", T::Query | T::Key | T::Value},
        {"Wqkv", T::Query | T::Key | T::Value},
        {"wq", T::Query},
        {"wk", T::Key},
        {"wv", T::Value},
        {"wo", T::Output},
        {"out_proj", T::Output},
        {"output_proj", T::Output},
        {"w1", T::MlpIn},
        {"w2", T::MlpOut},
        {"w3", T::MlpIn},
        {"fc1", T::MlpIn},
        {"fc2", T::MlpOut},
        {"dense_h_to_4h", T::MlpIn},
        {"dense_4h_to_h", T::MlpOut},
        {"linear_proj", T::Output},
        {"linear_fc1", T::MlpIn},
        {"linear_fc2", T::MlpOut},
        {"all", Adapters{}.targets},
        {"all-linear", Adapters{}.targets},
    }};
    const auto found = std::find_if(names.begin(), names.end(), [name](const auto& row) { return row.first == name; });
    return found == names.end() ? 0 : found->second;
}

/// One linear layer makes all three.
bool isPackedQkv(std::string_view name)
{
    constexpr unsigned all = Adapters::Query | Adapters::Key | Adapters::Value;
    return targetsNamed(name) == all;
}

} // namespace

Adapters adaptersOf(const TrainingPlan& plan)
{
    Adapters result;
    if (!plan.lora.rank.isKnown() || plan.lora.rank.value <= 0) {
        return result;
    }
    result.rank = plan.lora.rank.value;
    unsigned targets = 0;
    const std::vector<std::string>& targetNames = plan.lora.targets.value;
    for (const std::string& name : targetNames) {
        targets |= targetsNamed(name);
    }
    result.targets = targets != 0 ? targets : result.targets;
    // Megatron's linear_qkv and linear_fc1 are single layers; a plan that names no framework, profile or recipe has
    // theory.md's.
    const bool isOfSome = plan.implementation.profile.isKnown() || !plan.framework.value.empty()
        || plan.precision.recipe.value.starts_with("megatron");
    result.packsGate = isOfSome && profileOf(plan).starts_with("megatron");
    result.packsQkv = result.packsGate || std::any_of(targetNames.begin(), targetNames.end(), isPackedQkv);
    return result;
}

} // namespace headroom
