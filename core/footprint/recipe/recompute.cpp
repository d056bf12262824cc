// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/recompute.h"

#include "plan/recomputed_share.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace headroom {

using enum Kept;

namespace {

bool isAny(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Modules as Megatron-LM names them, and the plain words other frameworks use (theory.md 3.9). A checkpointed MLP
/// rebuilds the norm fused into it; a checkpointed mixture keeps its input.
void dropModule(LayerTensors& layer, std::string_view module, bool isMla)
{
    if (isAny(module, {"core_attn", "core_attention"})) {
        layer.drop({LogSumExp, Scores});
    } else if (isAny(module, {"attention", "attn", "self_attn", "self_attention"})) {
        layer.drop({Latents, QueryKeyValue, AttentionOutput, LogSumExp, Scores});
    } else if (module == "mlp") {
        if (layer[Hidden] > 0) {
            layer.drop({MlpNorm, Hidden, Activated});
        }
    } else if (isAny(module, {"layernorm", "norm"})) {
        layer.drop({AttentionNorm, MlpNorm});
    } else if (module == "moe") {
        layer.drop(
            {Router, ExpertInput, ExpertHidden, ExpertActivated, ExpertProbabilities, SharedHidden, SharedActivated});
    } else if (module == "moe_act") {
        layer.drop({ExpertActivated});
    } else if (isAny(module, {"act", "activation", "mlp_act"})) {
        layer.drop({Activated, ExpertActivated, SharedActivated});
    } else if (module == "shared_experts") {
        layer.drop({SharedHidden, SharedActivated});
    } else if (module == "mla_up_proj" && isMla) {
        layer.drop({QueryKeyValue});
    }
}

} // namespace

Recompute recomputeOf(const TrainingPlan& plan)
{
    const RecomputePlan& recompute = plan.recompute;
    Recompute result;
    const bool isDecided = recompute.enabled.isKnown() && recompute.enabled.origin.kind != OriginKind::Default;
    const bool isOn = isDecided ? recompute.enabled.value : recompute.granularity.isStated();
    if (!isOn || recompute.granularity.value == Granularity::None) {
        return result;
    }
    result.vision = recompute.vision.value;
    const bool hasCount = recompute.numLayers.isKnown() && recompute.numLayers.value > 0;
    if (const auto share = recomputedShare(recompute)) {
        result.kind = Recompute::Kind::Block;
        result.share = *share;
        result.everyLayer = *share >= 1;
        result.perChunk = true;
    } else if (recompute.granularity.value == Granularity::Selective) {
        result.kind = hasCount ? Recompute::Kind::Block : Recompute::Kind::Modules;
        result.layers = hasCount ? recompute.numLayers.value : 0;
    } else if (recompute.method.value == "uniform") {
        result.kind = Recompute::Kind::Uniform;
        result.group = hasCount ? recompute.numLayers.value : 1;
    } else {
        result.kind = Recompute::Kind::Block;
        result.everyLayer = !(recompute.method.value == "block" && hasCount);
        result.layers = recompute.numLayers.value;
        result.perChunk = true;
    }
    return result;
}

double Recompute::blockLayers(double chunkLayers, double chunks) const
{
    const double asked
        = share >= 0 ? layersOfShare(share, chunkLayers) : static_cast<double>(layers) / (perChunk ? 1.0 : chunks);
    return everyLayer ? chunkLayers : std::min(asked, chunkLayers);
}

void dropRebuilt(const RecomputePlan& recompute, bool isMla, LayerTensors& layer)
{
    if (recompute.modules.isKnown() && !recompute.modules.value.empty()) {
        for (const std::string& module : recompute.modules.value) {
            dropModule(layer, module, isMla);
        }
    } else {
        dropModule(layer, "core_attn", isMla);
    }
}

} // namespace headroom
