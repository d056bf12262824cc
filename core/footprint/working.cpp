// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/working.h"

#include "plan/batch.h"

#include <algorithm>

namespace headroom {

namespace {

StageLayers foldedLayers(const PipelineSplit& split, std::int64_t stage)
{
    const auto firstHalf = [](std::int64_t layers) { return (layers + 1) / 2; };
    const auto secondHalf = [](std::int64_t layers) { return layers / 2; };
    const std::int64_t own = split.layers(stage);
    const std::int64_t last = split.stages() - 1;
    const std::int64_t end = split.firstLayer(last) + split.layers(last) - split.sumBefore(stage, secondHalf);
    StageLayers result;
    result.ranges[0] = {split.sumBefore(stage, firstHalf), firstHalf(own)};
    result.ranges[1] = {end - secondHalf(own), secondHalf(own)};
    result.holdsEmbedding = result.holdsHead = stage == 0;
    return result;
}

PipelineShape pipelineOf(const TrainingPlan& plan, const Split& split)
{
    constexpr std::int64_t most = 1'000'000'000;
    PipelineShape shape{plan.parallel.schedule.value, split.pipeline, split.chunks,
                        std::clamp<std::int64_t>(microBatchesPerStep(plan), 1, most),
                        std::clamp<std::int64_t>(plan.parallel.vppGroup.valueOr(0), 0, most)};
    shape = effectivePipeline(shape);
    if (isFolded(shape.schedule) || shape.schedule == Schedule::DualPipe) {
        shape.chunks = 2;
    } else if (shape.schedule != Schedule::Interleaved) {
        shape.chunks = 1;
    }
    return shape;
}

} // namespace

double StageWorking::allActivations() const
{
    return held.units * activations.kept + static_cast<double>(held.firstChunk) * vision;
}

StageLayers stageLayers(const PipelineSplit& split, std::int64_t stage, Schedule schedule)
{
    if (isFolded(schedule)) {
        return foldedLayers(split, stage);
    }
    const std::int64_t last = split.stages() - 1;
    StageLayers result;
    result.ranges[0] = {split.firstLayer(stage), split.layers(stage)};
    result.holdsEmbedding = stage == 0;
    result.holdsHead = stage == last;
    if (layerCopies(schedule) > 1) {
        result.ranges[1] = {split.firstLayer(last - stage), split.layers(last - stage)};
        result.holdsEmbedding = result.holdsHead = result.holdsEmbedding || result.holdsHead;
    }
    return result;
}

Working workingOf(const TrainingPlan& plan, const Calibration& calibration)
{
    Working result;
    result.model = architectureOf(plan);
    result.tower = visionTowerOf(plan);
    result.projector = projectorOf(plan);
    result.split = splitOf(plan);
    result.trainable = trainableOf(plan);
    result.pipeline = pipelineOf(plan, result.split);
    result.split.chunks = result.pipeline.chunks;
    result.weights = weightsPerGpu(result.model, result.tower, result.projector, result.split, adaptersOf(plan));
    result.recipe = stateRecipe(plan);
    result.sharding = shardingOf(plan, result.split);
    result.activations = activationModel(plan, result.model, result.tower, result.projector, result.split, calibration);
    result.cachesWeights = plan.precision.autocast.value && result.recipe.parameter == 4;
    return result;
}

StageWorking stageWorking(const Working& working, const PipelineSplit& split, std::int64_t stage)
{
    StageWorking result;
    result.layers = stageLayers(split, stage, working.pipeline.schedule);
    result.weights = stageWeights(working.weights, working.model, result.layers, working.pipeline.stages);
    result.state = stateBytes(result.weights, working.recipe, working.sharding, working.trainable);
    std::int64_t expertLayers = 0;
    for (const StageLayers::Range& range : result.layers.ranges) {
        expertLayers += working.model.moeLayers(range.first, range.count);
    }
    result.activations = stageActivations(working.activations, result.layers.count() - expertLayers, expertLayers,
                                          working.pipeline.chunks);
    // A micro-batch passes through one copy of the layers.
    result.activations.kept /= static_cast<double>(layerCopies(working.pipeline.schedule));
    result.held = inFlight(working.pipeline, stage);
    result.rebuilt = result.activations.rebuilt;
    if (result.layers.holdsEmbedding) {
        result.vision = working.activations.vision();
        result.rebuilt = std::max(result.rebuilt, working.activations.visionRebuilt);
    }
    if (working.cachesWeights) {
        result.weightCache = 2 * (result.weights.language.matrices + result.weights.experts.matrices).real();
    }
    return result;
}

} // namespace headroom
