// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/shape_hybrid.h"

#include "footprint/recipe/architecture.h"
#include "footprint/tape/shape.h"

#include <algorithm>
#include <string>

namespace headroom {

namespace {

tl::unexpected<Problem> notDescribed(std::string_view what)
{
    return failure(Text{HEADROOM_TR("core", "the tapes do not describe %1"), {std::string(what)}});
}

Result<void> checkDivides(std::string_view what, std::int64_t value, std::int64_t ranks)
{
    if (value % ranks == 0) {
        return {};
    }
    return failure(Text{HEADROOM_TR("core", "%1 (%2) cannot be split over %3 ranks"),
                        {std::string(what), std::to_string(value), std::to_string(ranks)}});
}

bool has(const std::vector<LayerKind>& layers, Mixer mixer)
{
    return std::any_of(layers.begin(), layers.end(), [mixer](LayerKind kind) { return kind.mixer == mixer; });
}

/// The first layer with adapters, which mixers other than attention have none of; 0 without any. What stands in front
/// of it keeps nothing, which the tapes, one for a kind of layer, leave to the first layer at most.
std::ptrdiff_t firstAdapted(const RankShape& shape)
{
    const std::vector<LayerKind>& layers = shape.hybrid.layers;
    const auto isAdapted = [&shape](LayerKind kind) {
        using T = Adapters;
        return (kind.mixer == Mixer::Attention && shape.hasAdapter(T::Query | T::Key | T::Value | T::Output))
            || (kind.feedForward != FeedForward::None && shape.hasAdapter(T::MlpIn | T::MlpOut));
    };
    return shape.adapters.rank == 0 ? 0 : std::find_if(layers.begin(), layers.end(), isAdapted) - layers.begin();
}

bool isMixed(const std::vector<LayerKind>& layers)
{
    return std::adjacent_find(layers.begin(), layers.end(), std::not_equal_to<>()) != layers.end();
}

Result<void> checkMixers(const TrainingPlan& plan, const RankShape& shape)
{
    const HybridShape& hybrid = shape.hybrid;
    for (const auto& [isThere, what] : {
             std::pair{has(hybrid.layers, Mixer::Mamba), "the state spaces of the first Mamba"},
             std::pair{!shape.isTransformerEngine || shape.isKwai, "hybrid layers outside Transformer Engine"},
             std::pair{shape.family != ModelFamily::Decoder, "hybrid layers outside decoders"},
             std::pair{firstAdapted(shape) > 1, "adapters that begin behind several layers of a hybrid"},
             std::pair{shape.latentAttention.isPresent(), "latent attention in hybrids"},
             std::pair{shape.offload.isOn, "offloaded activations of hybrids"},
             std::pair{shape.checkpointGroup > 1 && isMixed(hybrid.layers),
                       "groups of recomputed layers that mix kinds of layers"},
             std::pair{hybrid.predictor.empty() && shape.predictors > 0 && plan.model.layerPattern.isKnown(),
                       "predictions that a pattern does not name"},
         }) {
        if (isThere) {
            return notDescribed(what);
        }
    }
    return {};
}

} // namespace

/// The chunk states of a scan are the largest of its tensors.
bool isMixerComputable(const LinearMixer& mixer, std::int64_t tokens, std::int64_t hidden, std::int64_t layers)
{
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const double state = real(mixer.heads) * real(mixer.headDim) * std::max(real(mixer.state), real(mixer.keyDim));
    const double scores = real(mixer.groups) * real(mixer.chunk) * real(mixer.chunk);
    const double width = real(mixer.heads) * (real(mixer.headDim) + real(mixer.keyDim) + real(mixer.chunk))
        + real(mixer.groups) * real(mixer.state) + real(mixer.keyHeads) * real(mixer.keyDim) + real(mixer.timeRank);
    return (real(tokens) + 1) * (width + state + scores + real(hidden) * width) * (real(layers) + 1) * 64 < 4e18;
}

Result<void> readHybrid(const TrainingPlan& plan, RankShape& shape)
{
    HybridShape& hybrid = shape.hybrid;
    hybrid.hasAttentionGate = plan.model.attnGate.value;
    hybrid.hasSharedGate = plan.moe.sharedGate.value;
    hybrid.repeatsPredictor = plan.model.repeatedPredictor.value;
    const bool isGated = hybrid.hasAttentionGate || hybrid.hasSharedGate;
    if (isGated && (!shape.isTransformerEngine || shape.isKwai)) {
        return notDescribed("gated attention or experts");
    }
    if (!isHybrid(plan)) {
        return {};
    }
    if (auto pattern = layerPatternOf(plan); !pattern) {
        return tl::unexpected(std::move(pattern.error()));
    }
    Architecture whole = architectureOf(plan);
    hybrid.layers = std::move(whole.kinds);
    hybrid.predictor = std::move(whole.predictorKinds);
    hybrid.mixer = whole.mixer.splitOver(shape.tensor);
    if (auto described = checkMixers(plan, shape); !described) {
        return described;
    }
    const bool hasMamba = has(hybrid.layers, Mixer::Mamba2), hasDelta = has(hybrid.layers, Mixer::DeltaNet);
    const std::int64_t ranks = shape.tensor * shape.context; // context parallelism splits heads, too
    Result<void> divides
        = hasMamba || hasDelta ? checkDivides("mixer.heads", whole.mixer.heads, ranks) : Result<void>();
    if (divides && hasDelta) {
        divides = checkDivides("mixer.key_heads", whole.mixer.keyHeads, ranks);
    }
    if (divides && hasMamba) {
        divides = checkDivides("mixer.groups", whole.mixer.groups, shape.tensor);
    }
    if (!divides) {
        return divides;
    }
    if (!isMixerComputable(whole.mixer, shape.microBatch * shape.fullSequence, shape.hidden,
                           static_cast<std::int64_t>(hybrid.layers.size()))) {
        return failure(Text{HEADROOM_TR("core", "the sizes of the plan are beyond what any machine holds")});
    }
    return {};
}

} // namespace headroom
