// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"

#include "footprint/outlook/outside.h"
#include "footprint/working.h"
#include "plan/batch.h"
#include "plan/validity.h"

#include <algorithm>

namespace headroom {

namespace {

/// Calls `found` with each field that a plan can be valid without, but no estimate can.
template <typename Found> void forEachMissing(const TrainingPlan& plan, const Found& found)
{
    if (!plan.model.vocab.isKnown() && !plan.model.paddedVocab.isKnown()) {
        found("model.vocab");
    }
    if (!plan.batch.tokensPerMicrobatch.isKnown()) {
        if (!batchEquation(plan).micro) {
            found("batch.micro");
        }
        if (!plan.batch.seq.isKnown()) {
            found("batch.seq");
        }
    }
    const VisionTower tower = visionTowerOf(plan);
    const Trainable trainable = trainableOf(plan);
    if (tower.isPresent() && tower.tokens == 0 && (trainable.vision || trainable.projector)) {
        found("vision.tokens_per_image");
    }
}

Result<void> checkInputs(const TrainingPlan& plan)
{
    const char* first = nullptr;
    forEachMissing(plan, [&first](const char* field) { first = first != nullptr ? first : field; });
    if (first != nullptr) {
        return failure(Text{HEADROOM_TR("core", "%1 is not known"), {first}});
    }
    return {};
}

Bytes sum(const std::array<Bytes, componentCount>& components)
{
    Elements total;
    for (std::size_t i = 0; i < components.size(); ++i) {
        if (i != static_cast<std::size_t>(Component::Context)) { // outside the allocator
            total += components[i].value;
        }
    }
    return {total.value()};
}

/// Bytes by component at the fullest moment of a phase (theory.md 5.1).
std::array<Bytes, componentCount> componentsIn(Phase phase, const Working& working, const StageWorking& stage,
                                               Bytes outside)
{
    std::array<Bytes, componentCount> result{};
    const auto set
        = [&result](Component which, double bytes) { result[static_cast<std::size_t>(which)] = bytesFrom(bytes); };
    const StateBytes& state = stage.state;
    set(Component::Parameters, state.parameters);
    set(Component::OptimizerState, state.master + state.moments);
    result[static_cast<std::size_t>(Component::Context)] = outside;
    if (phase == Phase::Optimizer) {
        set(Component::Gradients, state.gradients + state.gradientCopies);
        return result;
    }
    // A forward pass meets gradients where a buffer holds them, or where a backward pass of the same step came before.
    const bool followsBackward = working.pipeline.microBatches > stage.held.microBatches();
    const bool hasGradients = phase == Phase::Backward || working.recipe.gradientsPersist || followsBackward;
    set(Component::Gradients, !hasGradients ? 0.0 : stage.wholeGradients > 0 ? stage.wholeGradients : state.gradients);
    const double one = std::min(stage.held.units, 1.0) * stage.activations.kept
        + std::min<double>(static_cast<double>(stage.held.firstChunk), 1.0) * stage.vision;
    set(Component::Activations, one);
    set(Component::InFlight, stage.allActivations() - one);
    set(Component::WorkingSet,
        stage.weightCache + (phase == Phase::Backward ? stage.rebuilt + stage.gatheredBackward : stage.gathered));
    return result;
}

void fillPeaks(const Working& working, const StageWorking& stage, Bytes outside, StageFootprint& result)
{
    // On a tie the peak is called backward's: gradients and activations are there together.
    constexpr std::array order{Phase::Backward, Phase::Forward, Phase::Optimizer};
    result.peakAllocated = {};
    for (const Phase phase : order) {
        const auto components = componentsIn(phase, working, stage, outside);
        const Bytes total = sum(components);
        result.phases[static_cast<std::size_t>(phase)] = total;
        if (phase == Phase::Backward || total > result.peakAllocated) {
            result.peakAllocated = total;
            result.peakPhase = phase;
            result.components = components;
        }
    }
    const StateBytes& state = stage.state;
    const double kept = working.recipe.gradientsPersist ? state.gradients : 0.0;
    result.steadyAllocated = bytesFrom(state.parameters + state.master + state.moments + kept + state.gradientCopies);
    // The moments appear in the first optimizer step, after its forward and backward passes.
    const Bytes moments = bytesFrom(state.moments);
    const Bytes passes = std::max(result.phase(Phase::Forward), result.phase(Phase::Backward)) - moments;
    result.firstStepPeakAllocated = std::max(passes, result.phase(Phase::Optimizer));
    result.peakReserved = result.peakAllocated;
    result.device = {(Elements(result.peakReserved.value) + outside.value).value()};
}

void fillStage(const Working& working, const StageWorking& stage, std::int64_t index, Bytes outside,
               StageFootprint& result)
{
    result.stage = index;
    result.firstLayer = stage.layers.ranges[0].first;
    result.layers = stage.layers.count();
    result.parameters = stage.weights.total().value();
    result.inFlight = stage.held.microBatches();
    result.intervals.reset();
    fillPeaks(working, stage, outside, result);
}

/// workflow.md section 2 for the whole model, and for the fullest stage what it says the peak is: static state of
/// 12h² blocks, plus in flight times activations.
TextbookFigures textbookFigures(const TrainingPlan& plan, const Working& working, const StageWorking& fullest)
{
    const Elements hidden = working.model.hidden;
    const Elements block = Elements(12) * hidden * hidden;
    const Elements table = Elements(plan.model.vocab.valueOr(working.model.vocab)) * hidden;
    TextbookFigures result;
    result.blockParameters = block.value();
    result.parameters = (block * working.model.layers + table).value();
    result.staticState = bytesFrom(Elements(result.parameters).real() * working.recipe.total());
    result.k = working.activations.effectiveK;
    const double tokens = working.activations.tokens * static_cast<double>(working.split.context);
    result.activations = bytesFrom(tokens * hidden.real() * static_cast<double>(working.model.layers) * result.k * 2);
    result.inFlight = fullest.held.microBatches();

    Elements onStage = block * fullest.layers.count();
    onStage += fullest.layers.holdsEmbedding || fullest.layers.holdsHead ? table : Elements(0);
    const StateRecipe& recipe = working.recipe;
    const Sharding& sharding = working.sharding;
    const double bytesPerParameter = recipe.parameter / sharding.parameters
        + (recipe.gradient + recipe.gradientCopy) / sharding.gradients
        + (recipe.master + recipe.moments) / sharding.optimizer;
    result.peak = bytesFrom((onStage / working.split.tensor).real() * bytesPerParameter
                            + fullest.held.units * fullest.activations.kept);
    return result;
}

} // namespace

std::vector<std::string_view> missingInputs(const TrainingPlan& plan)
{
    std::vector<std::string_view> fields;
    for (const auto& [isKnown, field] : {std::pair{plan.model.layers.isKnown(), "model.layers"},
                                         std::pair{plan.model.hidden.isKnown(), "model.hidden"}}) {
        if (!isKnown) {
            fields.emplace_back(field);
        }
    }
    forEachMissing(plan, [&fields](const char* field) { fields.emplace_back(field); });
    return fields;
}

Result<void> estimate(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint)
{
    for (Problem& problem : validate(plan)) {
        if (problem.severity == Severity::Error) {
            return tl::unexpected(std::move(problem));
        }
    }
    if (Result<void> inputs = checkInputs(plan); !inputs) {
        return inputs;
    }
    footprint.engine = Engine::Textbook;
    footprint.notExact.reset();
    const Working working = workingOf(plan, calibration);
    const auto split = PipelineSplit::of(plan);
    if (!split) {
        return failure(Text{HEADROOM_TR("core", "The layers cannot be split over the pipeline stages as asked")});
    }
    footprint.stages.resize(static_cast<std::size_t>(split->stages() + working.encoderStages));
    footprint.fullestStage = 0;
    StageWorking fullest;
    const Bytes outside = outsideMemory(plan, working.split).central();
    for (std::size_t i = 0; i < footprint.stages.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        const StageWorking stage = stageWorking(working, *split, index);
        fillStage(working, stage, index, outside, footprint.stages[i]);
        if (i == 0 || footprint.stages[i].device > footprint.fullest().device) {
            footprint.fullestStage = i;
            fullest = stage;
        }
    }
    footprint.textbook = textbookFigures(plan, working, fullest);
    footprint.modelParameters = modelParameters(working.model, working.tower, working.projector);
    footprint.k = working.activations.k;
    footprint.capacity = std::nullopt;
    if (plan.hardware.capacityBytes.isKnown()) {
        footprint.capacity = Bytes{plan.hardware.capacityBytes.value};
    }
    return {};
}

} // namespace headroom
