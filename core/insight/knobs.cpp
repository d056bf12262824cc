// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/knobs.h"

#include "footprint/estimate.h"
#include "footprint/recipe/architecture.h"
#include "insight/rule.h"

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
constexpr std::int64_t mostSearched = 1024; ///< ranks of one kind, stages
constexpr std::int64_t mostRecomputed = 512;

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

/// Key-value heads are split over the ranks, or each is repeated on the same number of them.
std::set<std::int64_t> tensorSizes(const TrainingPlan& plan, std::int64_t limit)
{
    const std::int64_t heads = plan.model.heads.valueOr(1);
    const std::int64_t groups = std::max<std::int64_t>(1, plan.model.kvHeads.valueOr(heads));
    auto values = divisors(heads, limit);
    std::erase_if(values, [groups](std::int64_t tp) { return groups % tp != 0 && tp % groups != 0; });
    return values;
}

std::set<std::int64_t> multiples(std::int64_t unit, std::int64_t last)
{
    std::set<std::int64_t> values;
    for (std::int64_t value = unit; value <= last; value += unit) {
        values.insert(value);
    }
    return values;
}

std::set<std::int64_t> stageCounts(const TrainingPlan& plan)
{
    const std::int64_t layers = plan.model.layers.valueOr(0);
    const std::int64_t now = std::max<std::int64_t>(plan.parallel.pp.valueOr(1), 1);
    return layers > 0 && layers % now != 0 ? multiples(1, std::min(layers, mostSearched))
                                           : divisors(layers, mostSearched);
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
    case Knob::TensorParallel:
        return plan.model.heads.isKnown() ? tensorSizes(plan, maxParallel) : doublings(1, maxParallel);
    case Knob::VirtualChunks:
        return divisors(mostLayersOfAStage(plan), maxChunks);
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
    case Knob::RecomputedLayers:
        return multiples(1, std::min(mostLayersOfAStage(plan), mostRecomputed));
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
    const std::int64_t group = std::max<std::int64_t>(1, parallel.ep.value) * splitOf(plan).expertTensor;
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

} // namespace

std::string_view knobField(Knob knob)
{
    constexpr std::array<std::string_view, allKnobs.size()> fields{
        "parallel.pp", "parallel.vpp", "parallel.tp", "parallel.cp", "parallel.ep",
        "parallel.dp", "batch.micro",  "batch.accum", "batch.seq",   "recompute.num_layers"};
    return fields[static_cast<std::size_t>(knob)];
}

std::vector<std::int64_t> knobValues(Knob knob, const TrainingPlan& plan)
{
    std::set<std::int64_t> values;
    switch (knob) {
    case Knob::PipelineStages:
        values = stageCounts(plan);
        break;
    case Knob::TensorParallel:
        values = tensorSizes(plan, mostSearched);
        break;
    case Knob::ContextParallel:
        values = divisors(plan.batch.seq.valueOr(1), 256);
        break;
    case Knob::MicroBatch:
        values = plan.batch.micro.valueOr(1) <= mostSearched
            ? multiples(1, plan.batch.micro.valueOr(1))
            : doublings(1, std::min(plan.batch.micro.value, maxSequence * 16));
        break;
    case Knob::SequenceLength: {
        const std::int64_t sequence = std::min(plan.batch.seq.valueOr(0), maxSequence * 16);
        values = multiples((sequence / (minSequence * mostSearched) + 1) * minSequence, sequence);
        break;
    }
    case Knob::VirtualChunks:
    case Knob::ExpertParallel:
    case Knob::DataParallel:
    case Knob::Accumulation:
    case Knob::RecomputedLayers:
        values = candidates(knob, plan);
        break;
    }
    return {values.begin(), values.end()};
}

std::int64_t mostLayersOfAStage(const TrainingPlan& plan)
{
    const auto layers = layersPerStage(plan);
    return layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
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

bool knobIsAsked(Knob knob, const TrainingPlan& plan)
{
    const std::vector<std::string_view> missing = missingInputs(plan);
    return std::find(missing.begin(), missing.end(), knobField(knob)) != missing.end();
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
    if (knob == Knob::RecomputedLayers && mostLayersOfAStage(plan) > 0 && value > mostLayersOfAStage(plan)) {
        return Text(HEADROOM_TR("core", "a stage has only %1 layers"), {text(mostLayersOfAStage(plan))});
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

std::optional<std::vector<PlanEdit>> withFollowers(const TrainingPlan& plan, std::vector<PlanEdit> edits,
                                                   KnobLinks links, std::int64_t samples)
{
    auto changed = edited(plan, edits);
    if (!changed) {
        return std::nullopt;
    }
    const auto follow = [&](const char* field, Count& target, std::int64_t value) {
        if (target.value != value) {
            edits.push_back({field, text(value)});
            target.set(value, Origin{OriginKind::Edited, 0, nullptr});
        }
    };
    const auto isChosen
        = [&edits](std::string_view field) { return std::ranges::find(edits, field, &PlanEdit::field) != edits.end(); };
    const std::int64_t world = worldSize(plan);
    const std::int64_t replica = modelParallelSize(*changed);
    const bool choosesCopies = isChosen("parallel.dp");
    if (links.keepGpuCount && !choosesCopies && world % replica != 0) {
        return std::nullopt;
    }
    const std::int64_t data = choosesCopies ? changed->parallel.dp.value
        : links.keepGpuCount                ? world / replica
                                            : dataParallelSize(plan);
    if (changed->parallel.dp.isStated()
        || (!changed->parallel.world.isStated() && data != dataParallelSize(*changed))) {
        follow("parallel.dp", changed->parallel.dp, data);
    }
    if (changed->parallel.world.isStated()) {
        follow("parallel.world", changed->parallel.world, data * replica);
    }
    if (links.keepGlobalBatch && !isChosen("batch.accum")) {
        const std::int64_t atOnce = std::max<std::int64_t>(1, changed->batch.micro.valueOr(1) * data);
        if (samples % atOnce != 0) {
            return std::nullopt;
        }
        if (changed->batch.accum.isStated() || samples / atOnce != microBatchesPerStep(*changed)) {
            follow("batch.accum", changed->batch.accum, samples / atOnce);
        }
    }
    return edits;
}

std::vector<PlanEdit> knobEdits(Knob knob, const TrainingPlan& plan, std::int64_t value, KnobLinks links)
{
    const std::vector<PlanEdit> alone{{std::string(knobField(knob)), text(value)}};
    const std::int64_t samples = knobValue(Knob::MicroBatch, plan) * microBatchesPerStep(plan) * dataParallelSize(plan);
    std::vector<PlanEdit> edits = withFollowers(plan, alone, links, samples).value_or(alone);
    // Interleaving is a matter of chunks: the schedule's name follows them.
    if (knob == Knob::VirtualChunks && value == 1 && plan.parallel.schedule.value == Schedule::Interleaved) {
        edits.push_back({"parallel.schedule", std::string(nameOf(Schedule::OneForwardOneBackward))});
    }
    return edits;
}

} // namespace headroom
