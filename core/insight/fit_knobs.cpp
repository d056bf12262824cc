// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit_knobs.h"

#include "insight/rule.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/fields.h"
#include "plan/validity.h"
#include "units/number.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace headroom {

namespace {

constexpr std::int64_t mostParallel = 1024;
constexpr std::int64_t mostChunks = 64;
constexpr std::int64_t mostRecomputed = 512;

std::vector<std::int64_t> divisorsOf(std::int64_t number, std::int64_t most)
{
    std::vector<std::int64_t> result;
    for (std::int64_t value = 1; value <= std::min(number, most); ++value) {
        if (number % value == 0) {
            result.push_back(value);
        }
    }
    return result;
}

/// By how much a value is multiplied or divided, the way people count steps of such a knob.
void sortByDistance(std::vector<std::int64_t>& values, std::int64_t from)
{
    std::erase(values, from);
    const auto distance = [from](std::int64_t value) {
        return std::abs(std::log(static_cast<double>(value) / static_cast<double>(from)));
    };
    std::stable_sort(values.begin(), values.end(),
                     [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
}

class Knobs
{
public:
    Knobs(const TrainingPlan& plan, const FitConstraints& constraints)
        : m_plan(plan)
        , m_constraints(constraints)
        , m_layers(plan.model.layers.valueOr(0))
    {
    }

    std::vector<FitKnob> all()
    {
        addMicroBatch();
        addRecompute();
        addSharding();
        addParallel();
        addChunks();
        addKernels();
        addOffload();
        if (!m_constraints.keepTraining) {
            addSequence();
        }
        std::erase_if(m_knobs, [](const FitKnob& knob) { return knob.candidates.empty(); });
        return std::move(m_knobs);
    }

private:
    FitKnob& add(std::string_view id) { return m_knobs.emplace_back(FitKnob{id, {}}); }

    void addNumbers(std::string_view id, const char* field, const char* label, std::int64_t now,
                    std::vector<std::int64_t> values)
    {
        sortByDistance(values, now);
        FitKnob& knob = add(id);
        for (const std::int64_t value : values) {
            knob.candidates.push_back(
                {{{field, std::to_string(value)}}, Text{label, {formatCount(now), formatCount(value)}}});
        }
    }

    void addFlag(std::string_view id, std::vector<PlanEdit> edits, const char* label)
    {
        add(id).candidates.push_back({std::move(edits), Text{label}});
    }

    void addMicroBatch()
    {
        const std::int64_t micro = m_plan.batch.micro.valueOr(1);
        std::vector<std::int64_t> values;
        for (std::int64_t value = micro - 1; value >= 1; --value) {
            values.push_back(value);
        }
        addNumbers("micro-batch", "batch.micro", HEADROOM_TR("core", "Micro-batch %1 → %2"), micro, std::move(values));
    }

    void addParallel()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        addNumbers("pipeline", "parallel.pp", HEADROOM_TR("core", "Pipeline stages %1 → %2"), parallel.pp.valueOr(1),
                   stageCounts(m_plan));
        addNumbers("tensor", "parallel.tp", HEADROOM_TR("core", "Tensor parallel %1 → %2"), parallel.tp.valueOr(1),
                   divisorsOf(m_plan.model.heads.valueOr(1), mostParallel));
        addNumbers("context", "parallel.cp", HEADROOM_TR("core", "Context parallel %1 → %2"), parallel.cp.valueOr(1),
                   divisorsOf(m_plan.batch.seq.valueOr(1), 256));
        if (m_plan.moe.experts.valueOr(0) > 1) {
            addNumbers("expert", "parallel.ep", HEADROOM_TR("core", "Expert parallel %1 → %2"), parallel.ep.valueOr(1),
                       divisorsOf(m_plan.moe.experts.value, mostParallel));
        }
        if (parallel.tp.valueOr(1) > 1 && !parallel.sp.value) {
            addFlag("sequence-parallel", {{"parallel.sp", "true"}}, HEADROOM_TR("core", "Sequence parallelism on"));
        }
    }

    void addChunks()
    {
        const std::int64_t chunks = m_plan.parallel.vpp.valueOr(1);
        const std::int64_t stages = m_plan.parallel.pp.valueOr(1);
        if (chunks > 1 && stages > 1 && m_layers % stages == 0) {
            addNumbers("chunks", "parallel.vpp", HEADROOM_TR("core", "Model chunks of a stage %1 → %2"), chunks,
                       divisorsOf(m_layers / stages, mostChunks));
        }
    }

    [[nodiscard]] bool isMegatron() const { return m_plan.framework.value.starts_with("megatron"); }
    [[nodiscard]] bool isBaseFormat() const
    {
        return !m_plan.framework.isKnown() || m_plan.framework.value == "base-yaml";
    }

    [[nodiscard]] std::int64_t recomputedLayers() const
    {
        const RecomputePlan& recompute = m_plan.recompute;
        const bool countsLayers
            = recompute.granularity.value == Granularity::Selective || recompute.method.value == "block";
        return recompute.enabled.value && countsLayers ? recompute.numLayers.valueOr(0) : 0;
    }

    void addRecompute()
    {
        const RecomputePlan& recompute = m_plan.recompute;
        const bool isFull = recompute.enabled.value && recompute.granularity.value == Granularity::Full
            && recompute.method.value != "block";
        if (isFull) {
            return;
        }
        FitKnob& knob = add("recompute");
        const auto counts = layersPerStage(m_plan);
        const std::int64_t layers
            = counts.empty() ? 0 : std::min(*std::max_element(counts.begin(), counts.end()), mostRecomputed);
        if (isMegatron() || isBaseFormat()) {
            // Some layers: what the base format calls selective, Megatron calls the block method of full recompute.
            for (std::int64_t count = recomputedLayers() + 1; count < layers; ++count) {
                std::vector<PlanEdit> edits{{"recompute.enabled", "true"},
                                            {"recompute.granularity", isMegatron() ? "full" : "selective"},
                                            {"recompute.num_layers", std::to_string(count)}};
                if (isMegatron()) {
                    edits.push_back({"recompute.method", "block"});
                }
                knob.candidates.push_back({std::move(edits),
                                           Text{HEADROOM_TR("core", "Recompute %1 of the %2 layers of a stage"),
                                                {formatCount(count), formatCount(layers)}}});
            }
        }
        std::vector<PlanEdit> edits{{"recompute.enabled", "true"}, {"recompute.granularity", "full"}};
        if (isMegatron()) {
            edits.push_back({"recompute.method", "uniform"});
            edits.push_back({"recompute.num_layers", "1"});
        }
        knob.candidates.push_back({std::move(edits), Text{HEADROOM_TR("core", "Recompute every layer")}});
    }

    void addSharding()
    {
        const ShardPlan& shard = m_plan.shard;
        if (shard.fsdp.value || dataParallelSize(m_plan) < 2) {
            return;
        }
        if (isMegatron()) {
            if (!shard.distOpt.value) {
                addFlag("sharding", {{"shard.dist_opt", "true"}},
                        HEADROOM_TR("core", "Shard the optimizer's state (distributed optimizer)"));
            }
            return;
        }
        if (shard.distOpt.value) {
            return;
        }
        FitKnob& knob = add("sharding");
        const std::int64_t now = shard.zeroStage.valueOr(0);
        const std::int64_t most = m_plan.parallel.pp.valueOr(1) > 1 ? 1 : 3; // gradients are needed whole in between
        for (std::int64_t stage = now + 1; stage <= most; ++stage) {
            knob.candidates.push_back(
                {{{"shard.zero_stage", std::to_string(stage)}},
                 Text{HEADROOM_TR("core", "ZeRO stage %1 → %2"), {formatCount(now), formatCount(stage)}}});
        }
    }

    void addKernels()
    {
        const std::string& attention = m_plan.attention.impl.value;
        if (attention == "unfused" || attention == "eager" || attention == "local") {
            addFlag("attention", {{"attention.impl", attention == "eager" ? "sdpa" : "flash"}},
                    HEADROOM_TR("core", "Attention without stored scores (flash)"));
        }
    }

    void addOffload()
    {
        if (!m_plan.shard.offloadOptimizer.value) {
            addFlag("offload", {{"shard.offload_optimizer", "true"}},
                    HEADROOM_TR("core", "Optimizer's state in the host's memory"));
        }
    }

    void addSequence()
    {
        constexpr std::int64_t step = 128;
        const std::int64_t sequence = m_plan.batch.seq.valueOr(0);
        std::vector<std::int64_t> values;
        for (std::int64_t value = (sequence - 1) / step * step; value >= step; value -= step) {
            values.push_back(value);
        }
        addNumbers("sequence", "batch.seq", HEADROOM_TR("core", "Sequence length %1 → %2"),
                   std::max<std::int64_t>(sequence, 1), std::move(values));
    }

    const TrainingPlan& m_plan;
    const FitConstraints& m_constraints;
    std::int64_t m_layers;
    std::vector<FitKnob> m_knobs;
};

/// The stated global batch, which also mends a plan whose other terms contradict it.
std::int64_t samplesPerStep(const TrainingPlan& plan)
{
    if (plan.batch.global.isStated()) {
        return plan.batch.global.value;
    }
    return plan.batch.micro.valueOr(1) * microBatchesPerStep(plan) * dataParallelSize(plan);
}

/// A number of recomputed layers beyond those of a stage is refused or cut, and no proposal should say it.
bool recomputesWhatItHas(const TrainingPlan& plan)
{
    const std::vector<std::int64_t> layers = layersPerStage(plan);
    const bool countsLayers
        = plan.recompute.enabled.value && plan.recompute.numLayers.origin.kind == OriginKind::Edited;
    return !countsLayers || layers.empty()
        || plan.recompute.numLayers.value <= *std::max_element(layers.begin(), layers.end());
}

bool isLegal(const TrainingPlan& plan)
{
    for (const Problem& problem : validate(plan)) {
        if (problem.severity == Severity::Error) {
            return false;
        }
    }
    return batchEquation(plan).holds.value_or(true) && recomputesWhatItHas(plan);
}

} // namespace

std::vector<std::int64_t> stageCounts(const TrainingPlan& plan)
{
    const std::int64_t layers = plan.model.layers.valueOr(0);
    std::vector<std::int64_t> counts = divisorsOf(layers, mostParallel);
    const std::int64_t now = plan.parallel.pp.valueOr(1);
    if (layers > 0 && now > 1 && layers % now != 0) {
        counts.resize(static_cast<std::size_t>(std::min(layers, mostParallel)));
        std::iota(counts.begin(), counts.end(), std::int64_t{1});
    }
    return counts;
}

std::vector<FitKnob> fitKnobs(const TrainingPlan& plan, const FitConstraints& constraints)
{
    return Knobs(plan, constraints).all();
}

std::optional<std::vector<PlanEdit>> linkedEdits(const TrainingPlan& plan, std::vector<PlanEdit> primary,
                                                 const FitConstraints& constraints)
{
    auto changed = edited(plan, primary);
    if (!changed) {
        return std::nullopt;
    }
    const auto follow = [&](const char* field, Count& target, std::int64_t value) {
        if (target.value != value) {
            primary.push_back({field, std::to_string(value)});
            target.set(value, {OriginKind::Edited, 0, nullptr});
        }
    };
    const std::int64_t world = worldSize(plan);
    const std::int64_t replica = modelParallelSize(*changed);
    if (constraints.keepGpus && world % replica != 0) {
        return std::nullopt;
    }
    const bool choosesCopies = std::ranges::find(primary, "parallel.dp", &PlanEdit::field) != primary.end();
    const std::int64_t data = constraints.keepGpus ? world / replica
        : choosesCopies                            ? changed->parallel.dp.value
                                                   : dataParallelSize(plan);
    if (changed->parallel.dp.isStated()
        || (!changed->parallel.world.isStated() && data != dataParallelSize(*changed))) {
        follow("parallel.dp", changed->parallel.dp, data);
    }
    if (changed->parallel.world.isStated()) {
        follow("parallel.world", changed->parallel.world, data * replica);
    }
    const std::int64_t samples = samplesPerStep(plan);
    const std::int64_t atOnce = changed->batch.micro.valueOr(1) * data;
    if (constraints.keepGlobalBatch) {
        if (samples % atOnce != 0) {
            return std::nullopt;
        }
        if (changed->batch.accum.isStated() || !changed->batch.global.isStated()) {
            follow("batch.accum", changed->batch.accum, samples / atOnce);
        }
    } else if (changed->batch.global.isStated()) {
        follow("batch.global", changed->batch.global, atOnce * microBatchesPerStep(plan));
    }
    return isLegal(*changed) ? std::optional(std::move(primary)) : std::nullopt;
}

} // namespace headroom
