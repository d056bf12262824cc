// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/implementation_plan.h"
#include "plan/layer_pattern.h"

#include <algorithm>
#include <string_view>

namespace headroom {

/// Which parts of the layers are recorded as CUDA graphs by Transformer Engine, as Megatron-LM's --cuda-graph-modules
/// names them.
struct GraphShape
{
    bool isOn = false;
    bool attention = false, mixers = false, mlp = false, experts = false;

    /// A layer that is recorded at least in part (transformer/cuda_graphs.py, _layer_is_graphable).
    [[nodiscard]] bool records(const LayerKind& kind) const
    {
        const bool hasMixer = kind.mixer != Mixer::None && kind.mixer != Mixer::Attention;
        return isOn
            && ((attention && kind.mixer == Mixer::Attention) || (mixers && hasMixer)
                || (mlp && kind.feedForward == FeedForward::Mlp)
                || (experts && kind.feedForward == FeedForward::Experts));
    }
};

inline GraphShape graphShapeOf(const ImplementationPlan& plan)
{
    const auto& modules = plan.cudaGraphModules.value;
    const bool isWhole = modules.empty();
    const auto names = [&modules](std::string_view module) {
        return std::find(modules.begin(), modules.end(), module) != modules.end();
    };
    return {plan.cudaGraphs.value == "transformer_engine", isWhole || names("attn"), isWhole || names("mamba"),
            isWhole || names("mlp"), isWhole || names("moe") || names("moe_router") || names("moe_preprocess")};
}

} // namespace headroom
