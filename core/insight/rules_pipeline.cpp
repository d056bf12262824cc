// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "plan/pipeline_split.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

bool hasExplicitSplit(const ParallelPlan& parallel)
{
    return parallel.firstStageLayers.isStated() || parallel.lastStageLayers.isStated() || parallel.embedInSplit.value
        || parallel.lossInSplit.value || parallel.layout.isStated();
}

Bytes activationsOf(const StageFootprint& stage)
{
    return stage.component(Component::Activations) + stage.component(Component::InFlight);
}

std::string signedGib(Bytes bytes)
{
    return (bytes.value > 0 ? "+" : "−") + formatGib(Bytes{std::abs(bytes.value)}, 1);
}

/// The nearest number of stages that divides the layers, smaller ones first: they need no more GPUs.
std::optional<std::int64_t> dividingStages(std::int64_t layers, std::int64_t stages)
{
    for (std::int64_t candidate = stages - 1; candidate > 1; --candidate) {
        if (layers % candidate == 0) {
            return candidate;
        }
    }
    return std::nullopt;
}

/// More stages than the files have, and with them more micro-batches whose activations are held.
std::optional<Finding> growthOf(const Situation& situation)
{
    if (situation.original == nullptr || situation.originalFootprint == nullptr) {
        return std::nullopt;
    }
    const std::int64_t before = situation.original->parallel.pp.value;
    const std::int64_t after = situation.plan->parallel.pp.value;
    const StageFootprint& first = situation.footprint->stages.front();
    const StageFootprint& originalFirst = situation.originalFootprint->stages.front();
    if (after <= before || first.inFlight <= originalFirst.inFlight) {
        return std::nullopt;
    }
    // Compared at the same work per micro-batch: what the stage would hold if nothing more were in flight.
    const Bytes oneMicroBatch{activationsOf(first).value / std::max<std::int64_t>(first.inFlight, 1)};
    const Bytes added = activationsOf(first) - oneMicroBatch * originalFirst.inFlight;
    const Bytes saved = first.staticState() - originalFirst.staticState();
    Finding finding;
    finding.id = "in-flight-growth";
    const bool eatsTheSaving = first.device >= originalFirst.device;
    finding.severity = eatsTheSaving ? Severity::Error : Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Micro-batches in flight: %1 → %2"),
                         {formatCount(originalFirst.inFlight), formatCount(first.inFlight)}};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "Pipeline %1 → %2 keeps %3 micro-batches on stage 0: their activations add %4, fewer layers per "
                    "stage change the static state by %5."),
        {formatCount(before), formatCount(after), formatCount(first.inFlight), signedGib(added), signedGib(saved)}};
    finding.evidence.push_back(evidenceOf(*situation.original, "parallel.pp"));
    finding.mend = halveMicroBatch(situation);
    return finding;
}

/// A stage that would fit with one micro-batch, which is what is counted where in-flight ones are forgotten.
std::optional<Finding> excessOf(const Situation& situation)
{
    const StageFootprint& stage = situation.footprint->fullest();
    const Bytes others = stage.component(Component::InFlight);
    const auto capacity = situation.footprint->capacity;
    if (!capacity || stage.device <= *capacity || stage.device - others > *capacity || stage.inFlight < 2) {
        return std::nullopt;
    }
    const TrainingPlan& plan = *situation.plan;
    Finding finding;
    finding.id = "in-flight-does-not-fit";
    finding.severity = Severity::Error;
    finding.title = Text{HEADROOM_TR("core", "One micro-batch would fit; stage %1 holds %2 at once"),
                         {std::to_string(stage.stage), formatCount(stage.inFlight)}};
    finding.explanation
        = Text{HEADROOM_TR("core",
                           "With several stages a micro-batch waits for its backward while others follow. Their "
                           "activations take %1 beside the %2 of the one being worked on, and with them the stage "
                           "needs %3 of %4."),
               {formatGib(others, 1), formatGib(stage.component(Component::Activations), 1), formatGib(stage.device, 1),
                formatGib(*capacity, 1)}};
    finding.evidence.push_back(evidenceOf(plan, "parallel.pp"));
    finding.evidence.push_back(evidenceOf(plan, "batch.micro"));
    finding.mend = halveMicroBatch(situation);
    return finding;
}

} // namespace

void unevenSplit(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const std::int64_t layers = plan.model.layers.valueOr(0);
    const std::int64_t stages = plan.parallel.pp.value;
    if (stages < 2 || layers < stages || layers % stages == 0 || hasExplicitSplit(plan.parallel)) {
        return;
    }
    const std::vector<std::int64_t> split = layersPerStage(plan);
    if (split.empty()) {
        return;
    }
    Finding finding;
    finding.id = "layers-do-not-divide";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "%1 layers do not divide over %2 stages"),
                         {formatCount(layers), formatCount(stages)}};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "Some frameworks refuse this; others give some stages %1 layers and the rest %2. The estimate "
                    "takes the uneven split with the larger stages first."),
        {formatCount(*std::max_element(split.begin(), split.end())),
         formatCount(*std::min_element(split.begin(), split.end()))}};
    finding.evidence.push_back(evidenceOf(plan, "parallel.pp"));
    finding.evidence.push_back(evidenceOf(plan, "model.layers"));
    if (const auto fewer = dividingStages(layers, stages)) {
        finding.mend = mendOf(
            situation, Text{HEADROOM_TR("core", "Pipeline stages %1 → %2"), {formatCount(stages), formatCount(*fewer)}},
            {{"parallel.pp", std::to_string(*fewer)}});
    }
    findings.push_back(std::move(finding));
}

void microBatchesInFlight(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr || situation.footprint == nullptr) {
        return;
    }
    if (auto growth = growthOf(situation)) {
        findings.push_back(std::move(*growth));
    } else if (auto excess = excessOf(situation)) {
        findings.push_back(std::move(*excess));
    }
}

} // namespace headroom
