// SPDX-License-Identifier: GPL-3.0-or-later
//
// What activations in the host's memory mean for the recipe (theory.md 3.9, theory_frameworks.md 12).
#include "footprint/recipe/activations.h"
#include "footprint/tape/shape.h"
#include "footprint/torch/habits.h"

#include <algorithm>
#include <cmath>

namespace headroom {

using enum Kept;

namespace {

/// What Megatron-LM's modules read: one of the two streams in front of the norms, and so on.
double inputOf(const LayerTensors& layer, std::string_view module)
{
    if (module == "attn_norm" || module == "mlp_norm") {
        return layer[NormInputs] / 2;
    }
    if (module == "moe_act") {
        return layer[ExpertHidden] + layer[SharedHidden];
    }
    const Kept tensor = module == "qkv_linear" ? AttentionNorm
        : module == "core_attn"                ? QueryKeyValue
        : module == "attn_proj"                ? AttentionOutput
                                               : ExpertInput;
    const bool isKnown = tensor != ExpertInput || module == "expert_fc1";
    return isKnown ? layer[tensor] : 0;
}

} // namespace

double offloadedPerToken(const LayerTensors& layer, const TrainingPlan& plan)
{
    if (!plan.shard.offloadActivations.value) {
        return 0;
    }
    if (plan.shard.offloadActivationModules.value.empty()) {
        return layer.total() - layer[NormStatistics] - layer[LogSumExp] - layer[DropoutMasks];
    }
    double bytes = 0;
    for (const std::string& module : plan.shard.offloadActivationModules.value) {
        bytes += inputOf(layer, module);
    }
    return bytes;
}

ActivationOffload activationOffload(const TrainingPlan& plan)
{
    ActivationOffload result;
    const std::string_view profile = profileOf(plan);
    result.isOn = plan.shard.offloadActivations.value;
    result.takesInputs = plan.recompute.offloadInputs.value || result.isOn;
    result.isByChunk = profile == "megatron-kwai";
    result.keepsLast = torchHabits(profile) == nullptr;
    result.fraction = std::clamp(plan.shard.offloadActivationFraction.valueOr(1.0), 0.0, 1.0);
    result.layers = plan.shard.offloadActivationLayers.valueOr(-1);
    return result;
}

void offloadActivations(const ActivationModel& model, double layers, double perLayer, double chunks,
                        StageActivations& stage)
{
    const ActivationOffload& offload = model.offload;
    const Recompute& recompute = model.recompute;
    if (recompute.kind == Recompute::Kind::Uniform || recompute.kind == Recompute::Kind::Block) {
        // Where all layers are recomputed their inputs are all that is kept.
        const bool isAll = recompute.kind == Recompute::Kind::Uniform || recompute.everyLayer;
        stage.kept = offload.takesInputs && isAll ? 0 : stage.kept;
        return;
    }
    if (!offload.isOn) {
        return;
    }
    if (offload.isByChunk) {
        // The chunk that was worked on last is here still, and two buffers take what comes back.
        const double away = offload.fraction * layers * perLayer;
        stage.kept -= away;
        stage.rebuilt += 3 * away / chunks;
        return;
    }
    const double most = layers - (offload.keepsLast ? 1 : 0);
    const double wanted = offload.layers < 0 ? most : std::min(static_cast<double>(offload.layers), most);
    const double away = std::floor(std::max(wanted, 0.0) * offload.fraction);
    stage.kept -= away * perLayer;
    stage.rebuilt += std::min(away, 1.0) * perLayer;
}

} // namespace headroom
