// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/recompute.h"

#include "footprint/torch/shape.h"
#include "plan/recomputed_share.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace headroom {

bool isRecomputed(const RecomputePlan& recompute)
{
    return recompute.enabled.value || !recompute.enabled.isStated();
}

bool recomputesLayers(const RecomputePlan& recompute)
{
    const bool isCounted = recompute.numLayers.isKnown() && recompute.modules.value.empty();
    return recompute.granularity.value == Granularity::Selective && (isCounted || recomputedShare(recompute));
}

bool recomputesAttention(const RecomputePlan& recompute)
{
    return recompute.modules.value.size() == 1 && recompute.modules.value.front() == "core_attn";
}

std::optional<std::uint8_t> modulesNamed(const std::vector<std::string>& names)
{
    constexpr std::array<std::pair<std::string_view, TorchShape::Module>, 12> known{{
        {"core_attn", TorchShape::CoreAttention},
        {"core_attention", TorchShape::CoreAttention},
        {"self_attn", TorchShape::SelfAttention},
        {"attention", TorchShape::SelfAttention},
        {"attn", TorchShape::SelfAttention},
        {"mlp", TorchShape::Mlp},
        {"feed_forward", TorchShape::Mlp},
        {"layernorm", TorchShape::Norms},
        {"norm", TorchShape::Norms},
        {"moe", TorchShape::Experts},
        {"mlp_act", TorchShape::MlpActivation},
        {"moe_act", TorchShape::ExpertActivation},
    }};
    unsigned modules = 0;
    for (const std::string& name : names) {
        const auto* found
            = std::find_if(known.begin(), known.end(), [&name](const auto& row) { return row.first == name; });
        if (found == known.end()) {
            return std::nullopt;
        }
        modules |= found->second;
    }
    return static_cast<std::uint8_t>(modules);
}

bool followsPolicy(const TrainingPlan& plan, const TorchHabits& habits)
{
    return habits.supportsTensorParallel
        && (plan.recompute.modules.value.empty() || recomputesAttention(plan.recompute));
}

} // namespace headroom
