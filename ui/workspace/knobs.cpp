// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/knobs.h"

#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/fields.h"
#include "plan/pipeline_split.h"
#include "plan/validity.h"

#include <algorithm>
#include <set>
#include <string>

namespace headroom {
namespace {

constexpr std::int64_t maxParallel = 64;
constexpr std::int64_t maxChunks = 32;
constexpr std::int64_t maxExpertParallel = 512;
constexpr std::int64_t maxDataParallel = 1024;
constexpr std::int64_t maxMicroBatch = 64;
constexpr std::int64_t maxAccumulation = 1024;
constexpr std::int64_t minSequence = 128;
constexpr std::int64_t maxSequence = std::int64_t{1} << 20;

/// Powers of two from `first` to `last`, and the halves between them (3, 6, 12, …).
std::set<std::int64_t> doublings(std::int64_t first, std::int64_t last)
{
    std::set<std::int64_t> values;
    for (std::int64_t value = first; value <= last; value *= 2) {
        values.insert(value);
        if (value > 1 && value + value / 2 <= last) {
            values.insert(value + value / 2);
        }
    }
    return values;
}

std::set<std::int64_t> divisors(std::int64_t number, std::int64_t limit)
{
    std::set<std::int64_t> values;
    for (std::int64_t value = 1; value <= std::min(number, limit); ++value) {
        if (number % value == 0) {
            values.insert(value);
        }
    }
    return values;
}

std::int64_t recomputableLayers(const TrainingPlan& plan)
{
    const auto layers = layersPerStage(plan);
    return layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
}

/// Values worth offering, before the plan rules any out.
std::set<std::int64_t> candidates(Knob knob, const TrainingPlan& plan)
{
    const std::int64_t layers = plan.model.layers.valueOr(0);
    switch (knob) {
    case Knob::PipelineStages: {
        auto values = doublings(1, layers > 0 ? std::min(layers, maxParallel) : maxParallel);
        values.merge(divisors(layers, maxParallel));
        return values;
    }
    case Knob::TensorParallel: {
        const std::int64_t heads = plan.model.heads.valueOr(0);
        const std::int64_t groups = std::max<std::int64_t>(1, plan.model.kvHeads.valueOr(heads));
        auto values = heads > 0 ? divisors(heads, maxParallel) : doublings(1, maxParallel);
        // Key-value heads are split over the ranks, or each is repeated on the same number of them.
        std::erase_if(values, [&](std::int64_t tp) { return heads > 0 && groups % tp != 0 && tp % groups != 0; });
        return values;
    }
    case Knob::VirtualChunks:
        return divisors(recomputableLayers(plan), maxChunks);
    case Knob::ContextParallel:
        return doublings(1, maxParallel);
    case Knob::ExpertParallel:
        return divisors(plan.moe.experts.valueOr(0), maxExpertParallel);
    case Knob::DataParallel:
        return doublings(1, maxDataParallel);
    case Knob::MicroBatch:
        return doublings(1, maxMicroBatch);
    case Knob::Accumulation:
        return doublings(1, maxAccumulation);
    case Knob::SequenceLength:
        return doublings(minSequence, std::max<std::int64_t>(std::int64_t{1} << 17, plan.model.maxPos.valueOr(0)));
    case Knob::RecomputedLayers: {
        std::set<std::int64_t> values;
        for (std::int64_t value = 1; value <= std::min<std::int64_t>(recomputableLayers(plan), 512); ++value) {
            values.insert(value);
        }
        return values;
    }
    }
    return {};
}

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

bool splitsModel(Knob knob)
{
    return knob == Knob::PipelineStages || knob == Knob::TensorParallel || knob == Knob::ContextParallel;
}

/// A copy with the one field changed, without what follows.
TrainingPlan withValue(Knob knob, const TrainingPlan& plan, std::int64_t value)
{
    TrainingPlan changed = plan;
    (void)setField(changed, knobField(knob), text(value), Origin{OriginKind::Edited, 0, nullptr});
    return changed;
}

/// The ranks of a stage hold the experts in groups of their own.
std::optional<Text> expertObjection(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t tensor = std::max<std::int64_t>(1, parallel.tp.value);
    const std::int64_t ranks = dataParallelSize(plan) * std::max<std::int64_t>(1, parallel.cp.value) * tensor;
    const std::int64_t group
        = std::max<std::int64_t>(1, parallel.ep.value) * std::max<std::int64_t>(1, parallel.etp.valueOr(tensor));
    return parallel.ep.value > 1 && ranks % group != 0
        ? std::optional(Text(HEADROOM_TR("core", "%1 GPUs of a stage cannot be divided into expert groups of %2"),
                             {text(ranks), text(group)}))
        : std::nullopt;
}

std::optional<Text> linkObjection(Knob knob, const TrainingPlan& plan, const TrainingPlan& changed, KnobLinks links)
{
    TrainingPlan followed = changed;
    if (links.keepGpuCount && splitsModel(knob)) {
        const std::int64_t world = dataParallelSize(plan) * modelParallelSize(plan);
        if (world % modelParallelSize(changed) != 0) {
            return Text(HEADROOM_TR("core", "%1 GPUs cannot be divided into groups of %2"),
                        {text(world), text(modelParallelSize(changed))});
        }
        followed.parallel.dp.set(world / modelParallelSize(changed), Origin{OriginKind::Edited, 0, nullptr});
    }
    if (links.keepGlobalBatch && knob != Knob::Accumulation) {
        const std::int64_t samples
            = knobValue(Knob::MicroBatch, plan) * microBatchesPerStep(plan) * dataParallelSize(plan);
        const std::int64_t perMicroStep = knobValue(Knob::MicroBatch, followed) * dataParallelSize(followed);
        if (perMicroStep <= 0 || samples % perMicroStep != 0) {
            return Text(HEADROOM_TR("core", "a global batch of %1 is not a multiple of %2 samples per micro-step"),
                        {text(samples), text(perMicroStep)});
        }
    }
    return {};
}

/// Takes the field from `from`, whatever it says, origin included.
void copyField(TrainingPlan& plan, const TrainingPlan& from, std::string_view key)
{
    const std::string stated = fieldText(from, key);
    if (!stated.empty() && setField(plan, key, stated, fieldOrigin(from, key))) {
        return;
    }
    forEachField(plan, [&](std::string_view name, auto& field) {
        if (name == key) {
            field = std::decay_t<decltype(field)>{};
        }
    });
}

} // namespace

std::string_view knobField(Knob knob)
{
    constexpr std::array<std::string_view, allKnobs.size()> fields{
        "parallel.pp", "parallel.vpp", "parallel.tp", "parallel.cp", "parallel.ep",
        "parallel.dp", "batch.micro",  "batch.accum", "batch.seq",   "recompute.num_layers"};
    return fields[static_cast<std::size_t>(knob)];
}

std::int64_t knobValue(Knob knob, const TrainingPlan& plan)
{
    switch (knob) {
    case Knob::PipelineStages:
        return plan.parallel.pp.valueOr(1);
    case Knob::VirtualChunks:
        return chunksPerStage(plan);
    case Knob::TensorParallel:
        return plan.parallel.tp.valueOr(1);
    case Knob::ContextParallel:
        return plan.parallel.cp.valueOr(1);
    case Knob::ExpertParallel:
        return plan.parallel.ep.valueOr(1);
    case Knob::DataParallel:
        return dataParallelSize(plan);
    case Knob::MicroBatch:
        return plan.batch.micro.valueOr(1);
    case Knob::Accumulation:
        return microBatchesPerStep(plan);
    case Knob::SequenceLength:
        return plan.batch.seq.valueOr(0);
    case Knob::RecomputedLayers:
        return plan.recompute.numLayers.valueOr(0);
    }
    return 0;
}

bool knobApplies(Knob knob, const TrainingPlan& plan)
{
    return knob != Knob::ExpertParallel || plan.moe.experts.valueOr(0) > 1;
}

std::optional<Text> knobIdle(Knob knob, const TrainingPlan& plan)
{
    if (knob == Knob::VirtualChunks && plan.parallel.pp.valueOr(1) < 2) {
        return Text(HEADROOM_TR("core", "one stage has nothing to interleave"));
    }
    if (knob == Knob::VirtualChunks && plan.parallel.layout.isKnown()) {
        return Text(HEADROOM_TR("core", "the pipeline layout says how many"));
    }
    return {};
}

std::optional<Text> knobObjection(Knob knob, const TrainingPlan& plan, std::int64_t value, KnobLinks links)
{
    if (value < 1) {
        return Text(HEADROOM_TR("core", "must be at least 1"));
    }
    if (knob == Knob::SequenceLength && value > maxSequence * 16) {
        return Text(HEADROOM_TR("core", "is longer than any training sequence"));
    }
    if (knob == Knob::RecomputedLayers && recomputableLayers(plan) > 0 && value > recomputableLayers(plan)) {
        return Text(HEADROOM_TR("core", "a stage has only %1 layers"), {text(recomputableLayers(plan))});
    }
    const TrainingPlan changed = withValue(knob, plan, value);
    if (auto objection = expertObjection(changed); objection && !expertObjection(plan)) {
        return objection;
    }
    const auto before = validate(plan);
    for (const Problem& problem : validate(changed)) {
        const bool isNew
            = std::none_of(before.begin(), before.end(), [&](const Problem& old) { return old.text == problem.text; });
        if (problem.severity == Severity::Error && isNew) {
            return problem.text;
        }
    }
    return linkObjection(knob, plan, changed, links);
}

std::vector<KnobStop> knobStops(Knob knob, const TrainingPlan& plan, const TrainingPlan& original, KnobLinks links)
{
    std::set<std::int64_t> values;
    for (const std::int64_t value : candidates(knob, plan)) {
        if (!knobObjection(knob, plan, value, links)) {
            values.insert(value);
        }
    }
    for (const TrainingPlan* present : {&original, &plan}) {
        if (const std::int64_t value = knobValue(knob, *present); value > 0) {
            values.insert(value);
        }
    }
    const std::int64_t layers = plan.model.layers.valueOr(0);
    std::vector<KnobStop> stops;
    stops.reserve(values.size());
    for (const std::int64_t value : values) {
        stops.push_back({value, knob == Knob::PipelineStages && layers > 0 && layers % value != 0});
    }
    return stops;
}

std::vector<PlanEdit> knobEdits(Knob knob, const TrainingPlan& plan, std::int64_t value, KnobLinks links)
{
    std::vector<PlanEdit> edits{{std::string(knobField(knob)), text(value)}};
    TrainingPlan changed = withValue(knob, plan, value);
    if (links.keepGpuCount && splitsModel(knob)) {
        const std::int64_t dataParallel = dataParallelSize(plan) * modelParallelSize(plan) / modelParallelSize(changed);
        changed = withValue(Knob::DataParallel, changed, dataParallel);
        edits.push_back({std::string(knobField(Knob::DataParallel)), text(dataParallel)});
    }
    if (links.keepGlobalBatch && knob != Knob::Accumulation) {
        const std::int64_t samples
            = knobValue(Knob::MicroBatch, plan) * microBatchesPerStep(plan) * dataParallelSize(plan);
        const std::int64_t steps
            = samples / std::max<std::int64_t>(1, knobValue(Knob::MicroBatch, changed) * dataParallelSize(changed));
        if (steps != microBatchesPerStep(changed)) {
            edits.push_back({std::string(knobField(Knob::Accumulation)), text(steps)});
        }
    }
    // Interleaving is a matter of chunks: the schedule's name follows them.
    if (knob == Knob::VirtualChunks && value == 1 && plan.parallel.schedule.value == Schedule::Interleaved) {
        edits.push_back({"parallel.schedule", std::string(nameOf(Schedule::OneForwardOneBackward))});
    }
    // A stated number of GPUs follows the split, or the file would contradict itself.
    if (plan.parallel.world.isStated() && changed.parallel.dp.isStated()) {
        const std::int64_t world = dataParallelSize(changed) * modelParallelSize(changed);
        if (world != plan.parallel.world.value) {
            edits.push_back({"parallel.world", text(world)});
        }
    }
    return edits;
}

Granularity effectiveGranularity(const TrainingPlan& plan)
{
    return plan.recompute.enabled.value ? plan.recompute.granularity.value : Granularity::None;
}

std::vector<PlanEdit> granularityEdits(const TrainingPlan& plan, const TrainingPlan& original, Granularity granularity)
{
    if (granularity == effectiveGranularity(original)) {
        return {{"recompute.enabled", {}}, {"recompute.granularity", {}}};
    }
    if (granularity == Granularity::None) {
        return {{"recompute.enabled", "false"}};
    }
    std::vector<PlanEdit> edits{{"recompute.enabled", "true"},
                                {"recompute.granularity", std::string(nameOf(granularity))}};
    const bool needsLayers = plan.recompute.numLayers.valueOr(0) <= 0 && plan.recompute.modules.value.empty();
    if (granularity == Granularity::Selective && needsLayers && recomputableLayers(plan) > 0) {
        // Selective without layers or modules recomputes nothing; half of a stage is where people start.
        edits.push_back({"recompute.num_layers", text(std::max<std::int64_t>(1, recomputableLayers(plan) / 2))});
    }
    return edits;
}

Result<TrainingPlan> withEdits(TrainingPlan plan, const TrainingPlan& original, const std::vector<PlanEdit>& edits)
{
    for (const PlanEdit& edit : edits) {
        if (edit.value.empty() || edit.value == fieldText(original, edit.field)) {
            copyField(plan, original, edit.field);
            continue;
        }
        if (auto set = setField(plan, edit.field, edit.value, Origin{OriginKind::Edited, 0, nullptr}); !set) {
            return tl::unexpected(set.error());
        }
    }
    return plan;
}

} // namespace headroom
