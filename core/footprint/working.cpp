// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/working.h"

#include "plan/batch.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

StageLayers foldedLayers(std::span<const std::int64_t> counts, std::size_t stage)
{
    const auto before = counts.first(stage);
    const std::int64_t layers = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const auto firstHalf = [](std::int64_t sum, std::int64_t count) { return sum + (count + 1) / 2; };
    const auto secondHalf = [](std::int64_t sum, std::int64_t count) { return sum + count / 2; };
    const std::int64_t begin = std::accumulate(before.begin(), before.end(), std::int64_t{0}, firstHalf);
    const std::int64_t end = layers - std::accumulate(before.begin(), before.end(), std::int64_t{0}, secondHalf);
    StageLayers result;
    result.ranges[0] = {begin, firstHalf(0, counts[stage])};
    result.ranges[1] = {end - secondHalf(0, counts[stage]), secondHalf(0, counts[stage])};
    result.holdsEmbedding = result.holdsHead = stage == 0;
    return result;
}

StageLayers::Range rangeOf(std::span<const std::int64_t> counts, std::size_t stage)
{
    const auto before = counts.first(stage);
    return {std::accumulate(before.begin(), before.end(), std::int64_t{0}), counts[stage]};
}

PipelineShape pipelineOf(const TrainingPlan& plan, const Split& split)
{
    constexpr std::int64_t most = 1'000'000'000;
    PipelineShape shape{plan.parallel.schedule.value, split.pipeline, split.chunks,
                        std::clamp<std::int64_t>(microBatchesPerStep(plan), 1, most)};
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

StageLayers stageLayers(std::span<const std::int64_t> counts, std::int64_t stage, Schedule schedule)
{
    const auto index = static_cast<std::size_t>(stage);
    if (isFolded(schedule)) {
        return foldedLayers(counts, index);
    }
    StageLayers result;
    result.ranges[0] = rangeOf(counts, index);
    result.holdsEmbedding = index == 0;
    result.holdsHead = index + 1 == counts.size();
    if (layerCopies(schedule) > 1) {
        result.ranges[1] = rangeOf(counts, counts.size() - 1 - index);
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
    const std::int64_t rank = result.trainable.adapters ? plan.lora.rank.value : 0;
    result.weights = weightsPerGpu(result.model, result.tower, result.projector, result.split, rank);
    result.recipe = stateRecipe(plan);
    result.sharding = shardingOf(plan, result.split);
    result.activations = activationModel(plan, result.model, result.tower, result.projector, result.split, calibration);
    result.cachesWeights = plan.precision.autocast.value && result.recipe.parameter == 4;
    return result;
}

StageWorking stageWorking(const Working& working, std::span<const std::int64_t> layersPerStage, std::int64_t stage)
{
    StageWorking result;
    result.layers = stageLayers(layersPerStage, stage, working.pipeline.schedule);
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
