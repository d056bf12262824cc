// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/outside.h"

#include "footprint/tape/shape.h"
#include "footprint/torch/gpt_pipeline.h"
#include "footprint/torch/habits.h"
#include "footprint/working.h"

#include <algorithm>

namespace headroom {

namespace {

constexpr std::int64_t gpusOfNode = 8;

/// Before CUDA 11.7 a context loaded every kernel at once: 1271 MiB on a V100, 1573 MiB on an A100
/// (theory_frameworks.md 2.5).
Prior contextOf(const TrainingPlan& plan)
{
    if (isGptPipeline(profileOf(plan))) {
        const Bytes whole = computeCapability(plan.hardware) <= 7 ? mib(1271) : mib(1573);
        return {mib(1000), whole, whole + mib(64)};
    }
    return {mib(400), contextPrior, mib(600)};
}

Prior times(const Prior& one, std::int64_t count)
{
    return {one.low * count, one.central * count, one.high * count};
}

/// Every peer of the first all-to-all gets connections on all channels: 32 between the GPUs of an NVLink node (NCCL
/// issue 1685), few over a network.
Prior exchangeOf(const TrainingPlan& plan)
{
    if (plan.moe.experts.value <= 0) {
        return {};
    }
    const std::int64_t ranks = std::clamp<std::int64_t>(plan.parallel.ep.value, 1, 1 << 20);
    const std::string& dispatcher = plan.moe.dispatcher.value;
    if (ranks <= 1 || dispatcher.empty() || dispatcher == "allgather") {
        return {};
    }
    const std::int64_t inNode = std::min(ranks, gpusOfNode) - 1;
    constexpr std::int64_t few = 8, many = 32;
    return {ncclConnection * (inNode * few), ncclConnection * (inNode * many),
            ncclConnection * (inNode * many + (ranks - 1 - inNode) * 2)};
}

} // namespace

std::int64_t communicators(const TrainingPlan& plan, const Split& split)
{
    if (std::max({split.tensor, split.data, split.context, split.pipeline, split.expert}) <= 1) {
        return 0;
    }
    const std::string_view profile = profileOf(plan);
    const auto one = [](bool isUsed) { return std::int64_t{isUsed ? 1 : 0}; };
    const bool hasReplicas = split.data > 1 || split.context > 1;
    const bool isSplit = split.tensor > 1 || split.pipeline > 1;
    if (profile == "deepspeed-pipeline") {
        // The grid has data and slice groups beside Megatron's own, model, pipeline and two point-to-point groups.
        return 2 * one(hasReplicas) + 2 * one(split.tensor > 1) + one(isSplit) + 3 * one(split.pipeline > 1);
    }
    if (profile == "internevo") {
        // All ranks agree on overflows; replicas share gradients and state, the ranks of a model its gradients' norm
        // (solver/optimizer/hybrid_zero_optim.py, solver/optimizer/utils.py).
        return 1 + 2 * one(hasReplicas) + one(split.tensor > 1) + one(split.pipeline > 1) + one(isSplit);
    }
    std::int64_t count = one(split.tensor > 1) + one(hasReplicas) + one(split.context > 1) + one(split.pipeline > 1);
    if (torchHabits(profile) != nullptr) {
        return count;
    }
    count += one(isSplit); // the norm of all gradients
    count += one(split.pipeline > 1 && plan.model.tiedEmbeddings.valueOr(true));
    count += one(split.expert > 1) + one(split.expert > 1 && split.expertData() > 1);
    return count;
}

OutsideMemory outsideMemory(const TrainingPlan& plan, const Split& split)
{
    OutsideMemory result;
    result.context = contextOf(plan);
    result.communicators = communicators(plan, split);
    // Reports run from 0.3 to 0.7 GB for each (theory.md 6.2).
    result.communication = times({Bytes{300'000'000}, Bytes{500'000'000}, Bytes{700'000'000}}, result.communicators);
    result.exchange = exchangeOf(plan);
    return result;
}

void setOutsideMemory(Bytes outside, std::vector<StageFootprint>& stages)
{
    for (StageFootprint& stage : stages) {
        stage.components[static_cast<std::size_t>(Component::Context)] = outside;
        stage.device = {(Elements(stage.peakReserved.value) + outside.value).value()};
    }
}

} // namespace headroom
