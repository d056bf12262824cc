// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/shape_moe.h"

#include "footprint/recipe/architecture.h"
#include "footprint/recipe/state.h"
#include "footprint/tape/shape.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

bool names(const RecomputePlan& recompute, std::string_view module)
{
    const bool isOn = recompute.enabled.value || !recompute.enabled.isStated();
    return isOn && recompute.granularity.value == Granularity::Selective
        && std::find(recompute.modules.value.begin(), recompute.modules.value.end(), module)
        != recompute.modules.value.end();
}

tl::unexpected<Problem> notDescribed(std::string_view what)
{
    return failure(Text{HEADROOM_TR("core", "the tapes do not describe %1"), {std::string(what)}});
}

tl::unexpected<Problem> indivisible(std::string_view what, std::int64_t value, std::int64_t ranks)
{
    return failure(Text{HEADROOM_TR("core", "%1 (%2) cannot be split over %3 ranks"),
                        {std::string(what), std::to_string(value), std::to_string(ranks)}});
}

Result<void> readDispatcher(const MoePlan& moe, ExpertShape& experts)
{
    const std::string& name = moe.dispatcher.value;
    if (name.empty() || name == "allgather") {
        experts.dispatcher = ExpertShape::Dispatcher::AllGather;
    } else if (name == "alltoall") {
        experts.dispatcher = ExpertShape::Dispatcher::AllToAll;
    } else if (name == "flex" || name == "deepep") { // its default backend
        experts.dispatcher = ExpertShape::Dispatcher::DeepEp;
    } else if (name == "hybridep") {
        experts.dispatcher = ExpertShape::Dispatcher::HybridEp;
    } else {
        return notDescribed("the token dispatcher " + name);
    }
    return {};
}

/// Bytes of a routing probability (moe/router.py, moe_router_dtype).
std::int64_t probabilityBytes(const MoePlan& moe, std::int64_t element)
{
    return moe.routerDtype.value == "fp64" ? 8 : moe.routerDtype.value == "fp32" ? 4 : element;
}

Result<void> readExperts(const TrainingPlan& plan, RankShape& shape)
{
    if (plan.moe.experts.value < 1) {
        return {};
    }
    const Architecture whole = architectureOf(plan);
    const Split split = splitOf(plan);
    ExpertShape& experts = shape.experts;
    experts.count = whole.experts;
    experts.topk = whole.topk;
    experts.latent = whole.latent;
    experts.firstDenseLayers = whole.firstDenseLayers;
    experts.every = whole.moeEvery;
    experts.ranks = split.expert;
    experts.tensor = split.expertTensor;
    if (whole.experts % split.expert != 0) {
        return indivisible("moe.experts", whole.experts, split.expert);
    }
    if (whole.expertFfn % split.expertTensor != 0) {
        return indivisible("moe.ffn", whole.expertFfn, split.expertTensor);
    }
    experts.local = whole.experts / split.expert;
    experts.ffn = whole.expertFfn / split.expertTensor;
    experts.sharedFfn = whole.sharedFfn / shape.tensor;
    // Without expert parallelism experts are parameters like all others (transformer/moe/experts.py, allreduce).
    experts.hasOwnBuffers = split.expert > 1 || split.expertTensor != split.tensor;
    experts.optimizerShards = shardingRanks(plan, split.expertData());
    experts.probability = probabilityBytes(plan.moe, shape.element);
    experts.capacityFactor = std::max(plan.moe.capacityFactor.valueOr(0), 0.0);
    experts.padsToCapacity = experts.capacityFactor > 0 && plan.moe.padToCapacity.valueOr(false);
    experts.load = std::clamp(plan.moe.load.valueOr(1), 0.0,
                              static_cast<double>(split.expert)); // a token reaches a rank topk times at most
    experts.isGrouped = plan.moe.groupedGemm.valueOr(false);
    experts.fusesPermutation = plan.moe.permuteFusion.valueOr(false);
    experts.keepsOutput = plan.implementation.deterministic.valueOr(false) && !experts.fusesPermutation
        && plan.implementation.keptExpertOutput.valueOr(true);
    experts.fusesActivation = shape.gates == 2 ? plan.implementation.swigluFusion.valueOr(true)
                                               : shape.isSquaredRelu && plan.implementation.squaredReluFusion.value;
    experts.overlapsCommunication = plan.implementation.expertCommOverlap.valueOr(false);
    experts.recomputesLayer = names(plan.recompute, "moe");
    experts.recomputesActivation = names(plan.recompute, "moe_act");
    experts.recomputesShared = names(plan.recompute, "shared_experts");
    const bool isMixed = experts.firstDenseLayers > 0 || experts.every > 1;
    for (const auto& [has, what] : {
             std::pair{shape.family != ModelFamily::Decoder, "experts outside decoders"},
             std::pair{isMixed && shape.checkpointGroup > 1,
                       "groups of recomputed layers that mix dense and expert ones"},
             std::pair{experts.overlapsCommunication && shape.chunks > 1,
                       "overlapped expert communication in interleaved pipelines"},
         }) {
        if (has) {
            return notDescribed(what);
        }
    }
    return readDispatcher(plan.moe, experts);
}

Result<void> readLatentAttention(const TrainingPlan& plan, RankShape& shape)
{
    if (plan.mla.kvLoraRank.value < 1) {
        return {};
    }
    const Architecture whole = architectureOf(plan);
    LatentShape& latent = shape.latentAttention;
    latent = {whole.qLoraRank,
              whole.kvLoraRank,
              whole.nopeDim,
              whole.ropeDim,
              whole.valueDim,
              whole.qkNorm,
              names(plan.recompute, "mla_up_proj")};
    if (latent.plain < 1 || latent.rotary < 1 || latent.value < 1) {
        return failure(Text{HEADROOM_TR("core", "the head sizes of latent attention (%1) are not known"),
                            {"mla.qk_nope_dim, mla.qk_rope_dim, mla.v_dim"}});
    }
    if (!shape.isTransformerEngine) {
        return notDescribed("latent attention in Megatron's own layers");
    }
    return {};
}

Result<void> readContext(const TrainingPlan& plan, RankShape& shape)
{
    ContextShape& context = shape.contextShape;
    if (shape.context == 1) {
        return {};
    }
    const std::string& name = plan.parallel.cpComm.value;
    if (shape.family != ModelFamily::Decoder) {
        return notDescribed("context parallelism outside decoders");
    }
    if (!shape.isTransformerEngine) {
        return notDescribed("context parallelism in Megatron's own layers");
    }
    if (shape.usesFp8) {
        return notDescribed("context parallelism in 8-bit precision");
    }
    if (shape.kernel == AttentionKernel::Unfused) {
        shape.kernel = AttentionKernel::Fused; // explicit scores cannot be split; cuDNN is what is left
    }
    context.ring = 1;
    if (name.empty() || name == "p2p") {
        context.exchange = ContextExchange::Ring;
        context.ring = shape.context;
    } else if (name == "all_gather") {
        context.exchange = ContextExchange::Gather;
    } else if (name == "a2a") {
        context.exchange = ContextExchange::Heads;
    } else if (name == "a2a+p2p") {
        const std::int64_t inner = plan.parallel.cpInner.valueOr(0);
        if (inner < 1 || shape.context % inner != 0) {
            return failure(Text{HEADROOM_TR("core", "%1 is not known"), {"parallel.cp_inner"}});
        }
        context.exchange = ContextExchange::HeadsThenRing;
        context.ring = shape.context / inner;
    } else {
        return notDescribed("the context-parallel exchange " + name);
    }
    return {};
}

} // namespace

std::int64_t ExpertShape::rows(std::int64_t localTokens) const
{
    const auto routed = static_cast<double>(localTokens * topk);
    const auto balanced = static_cast<std::int64_t>(routed * static_cast<double>(tensor) * load);
    if (capacityFactor <= 0) {
        return balanced;
    }
    // ceil(tokens * topk / E * c) for every expert and source rank (moe_utils.py, get_capacity).
    const auto capacity = static_cast<std::int64_t>(std::ceil(routed / static_cast<double>(count) * capacityFactor));
    const std::int64_t most = capacity * count * tensor;
    return padsToCapacity ? most : std::min(balanced, most);
}

std::int64_t ExpertShape::received(std::int64_t localTokens) const
{
    double missed = 1;
    for (std::int64_t i = 0; i < topk; ++i) {
        missed *= static_cast<double>(std::max<std::int64_t>(count - local - i, 0)) / static_cast<double>(count - i);
    }
    const std::int64_t all = localTokens * ranks * tensor;
    return std::min(all, static_cast<std::int64_t>(static_cast<double>(all) * (1 - missed) * load));
}

Result<void> readSpecialLayers(const TrainingPlan& plan, RankShape& shape)
{
    if (auto experts = readExperts(plan, shape); !experts) {
        return experts;
    }
    if (auto latent = readLatentAttention(plan, shape); !latent) {
        return latent;
    }
    return readContext(plan, shape);
}

} // namespace headroom
