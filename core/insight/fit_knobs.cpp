// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/fit_knobs.h"

#include "insight/knobs.h"
#include "insight/rule.h"
#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/fields.h"
#include "plan/precision.h"
#include "plan/recomputed_share.h"
#include "plan/validity.h"
#include "units/number.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

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
    {
    }

    std::vector<FitKnob> all()
    {
        addNumbers(Knob::MicroBatch, "micro-batch", HEADROOM_TR("core", "Micro-batch %1 → %2"));
        addRecompute();
        addSharding();
        addParallel();
        addKernels();
        addOffload();
        if (!m_constraints.keepTraining) {
            addNumbers(Knob::SequenceLength, "sequence", HEADROOM_TR("core", "Sequence length %1 → %2"));
        }
        std::erase_if(m_knobs, [this](const FitKnob& knob) { return knob.candidates.empty() || isLacking(knob); });
        return std::move(m_knobs);
    }

private:
    [[nodiscard]] bool isLacking(const FitKnob& knob) const
    {
        const std::string& field = knob.candidates.front().primary.front().field;
        return std::ranges::find(m_constraints.lacking, field) != m_constraints.lacking.end();
    }

    FitKnob& add(std::string_view id) { return m_knobs.emplace_back(FitKnob{id, {}}); }

    void addNumbers(Knob number, std::string_view id, const char* label)
    {
        const std::int64_t now = std::max<std::int64_t>(knobValue(number, m_plan), 1);
        std::vector<std::int64_t> values = knobValues(number, m_plan);
        sortByDistance(values, now);
        FitKnob& knob = add(id);
        for (const std::int64_t value : values) {
            knob.candidates.push_back({{{std::string(knobField(number)), std::to_string(value)}},
                                       Text{label, {formatCount(now), formatCount(value)}}});
        }
    }

    void addFlag(std::string_view id, std::vector<PlanEdit> edits, const char* label)
    {
        add(id).candidates.push_back({std::move(edits), Text{label}});
    }

    void addParallel()
    {
        const ParallelPlan& parallel = m_plan.parallel;
        addNumbers(Knob::PipelineStages, "pipeline", HEADROOM_TR("core", "Pipeline stages %1 → %2"));
        addNumbers(Knob::TensorParallel, "tensor", HEADROOM_TR("core", "Tensor parallel %1 → %2"));
        addNumbers(Knob::ContextParallel, "context", HEADROOM_TR("core", "Context parallel %1 → %2"));
        if (knobApplies(Knob::ExpertParallel, m_plan)) {
            addNumbers(Knob::ExpertParallel, "expert", HEADROOM_TR("core", "Expert parallel %1 → %2"));
        }
        if (parallel.tp.valueOr(1) > 1 && !parallel.sp.value) {
            addFlag("sequence-parallel", {{"parallel.sp", "true"}}, HEADROOM_TR("core", "Sequence parallelism on"));
        }
        if (parallel.vpp.valueOr(1) > 1 && !knobIdle(Knob::VirtualChunks, m_plan)) {
            addNumbers(Knob::VirtualChunks, "chunks", HEADROOM_TR("core", "Model chunks of a stage %1 → %2"));
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

    /// Of the layers, above the one that is set: quarters, as configs have them.
    void addShares(double share)
    {
        if (share >= 1) {
            return;
        }
        FitKnob& knob = add("recompute");
        const std::int64_t layers = mostLayersOfAStage(m_plan);
        for (const double more : {0.25, 0.5, 0.75}) {
            const auto count = static_cast<std::int64_t>(layersOfShare(more, static_cast<double>(layers)));
            if (more > share && count < layers) {
                knob.candidates.push_back({{{"recompute.fraction", formatReal(more)}},
                                           Text{HEADROOM_TR("core", "Recompute %1 of the %2 layers of a stage"),
                                                {formatCount(count), formatCount(layers)}}});
            }
        }
        knob.candidates.push_back({{{"recompute.fraction", "1"}}, Text{HEADROOM_TR("core", "Recompute every layer")}});
    }

    void addRecompute()
    {
        const RecomputePlan& recompute = m_plan.recompute;
        const bool isFull = recompute.enabled.value && recompute.granularity.value == Granularity::Full
            && recompute.method.value != "block";
        if (isFull) {
            addShares(recomputedShare(recompute).value_or(1));
            return;
        }
        FitKnob& knob = add("recompute");
        const std::int64_t layers = mostLayersOfAStage(m_plan);
        if (isMegatron() || isBaseFormat()) {
            // Some layers: what the base format calls selective, Megatron calls the block method of full recompute.
            for (const std::int64_t count : knobValues(Knob::RecomputedLayers, m_plan)) {
                if (count <= recomputedLayers() || count == layers) {
                    continue;
                }
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

    const TrainingPlan& m_plan;
    const FitConstraints& m_constraints;
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
    const bool countsLayers
        = plan.recompute.enabled.value && plan.recompute.numLayers.origin.kind == OriginKind::Edited;
    const std::int64_t layers = mostLayersOfAStage(plan);
    return !countsLayers || layers == 0 || plan.recompute.numLayers.value <= layers;
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

std::vector<std::string> fieldsLacking(std::span<const ConfigFormat* const> formats)
{
    std::vector<std::string> fields;
    if (!formats.empty()) {
        fields
            = {"parallel.pp", "parallel.tp", "parallel.cp", "parallel.ep", "parallel.vpp", "parallel.sp", "lora.rank"};
    }
    const auto remove = [&fields](const std::vector<ConfigFormat::Key>& keys) {
        for (const ConfigFormat::Key& key : keys) {
            std::erase(fields, key.field);
        }
    };
    for (const ConfigFormat* format : formats) {
        remove(format->keys);
        for (const ConfigFormat::Variant& variant : format->variants) {
            remove(variant.keys);
        }
    }
    return fields;
}

std::vector<FitKnob> fitKnobs(const TrainingPlan& plan, const FitConstraints& constraints)
{
    return Knobs(plan, constraints).all();
}

FitKnob adapterKinds(const TrainingPlan& plan, const FitConstraints& constraints)
{
    FitKnob kinds{"adapters", {}};
    const bool isPart = plan.frozen.llm.value || plan.frozen.all.value || plan.lora.rank.valueOr(0) > 0
        || isQuantised(effectivePrecision(plan).params);
    const bool isLacking = std::ranges::find(constraints.lacking, "lora.rank") != constraints.lacking.end();
    // Megatron-LM itself has no adapters; stages in front of the loss need the gradient of their input anyway.
    if (isPart || isLacking || plan.framework.value.starts_with("megatron")) {
        return kinds;
    }
    constexpr const char* rank = "16"; // what examples of all frameworks take: 8 to 64, of which memory hardly depends
    kinds.candidates.push_back(
        {{{"lora.rank", rank}}, Text{HEADROOM_TR("core", "LoRA of rank %1: trains less, adapters only"), {rank}}});
    if (plan.shard.zeroStage.valueOr(0) < 3 && !plan.shard.fsdp.value && plan.parallel.pp.valueOr(1) == 1
        && plan.parallel.tp.valueOr(1) == 1) {
        kinds.candidates.push_back(
            {{{"lora.rank", rank}, {"precision.params", "nf4"}},
             Text{HEADROOM_TR("core", "QLoRA of rank %1: trains less, adapters over weights in 4 bits"), {rank}}});
    }
    return kinds;
}

std::optional<std::vector<PlanEdit>> linkedEdits(const TrainingPlan& plan, std::vector<PlanEdit> primary,
                                                 const FitConstraints& constraints)
{
    auto edits = withFollowers(plan, std::move(primary), {constraints.keepGlobalBatch, constraints.keepGpus},
                               samplesPerStep(plan));
    auto changed = edits ? edited(plan, *edits) : std::nullopt;
    if (!changed) {
        return std::nullopt;
    }
    if (!constraints.keepGlobalBatch && changed->batch.global.isStated()) {
        const std::int64_t samples
            = changed->batch.micro.valueOr(1) * dataParallelSize(*changed) * microBatchesPerStep(plan);
        if (samples != changed->batch.global.value) {
            edits->push_back({"batch.global", std::to_string(samples)});
            changed->batch.global.set(samples, {OriginKind::Edited, 0, nullptr});
        }
    }
    return isLegal(*changed) ? edits : std::nullopt;
}

} // namespace headroom
