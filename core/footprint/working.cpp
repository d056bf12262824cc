// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/working.h"

#include "footprint/tape/shape.h"
#include "footprint/torch/shape.h"
#include "plan/batch.h"
#include "plan/objective.h"
#include "plan/vocabulary_split.h"

#include <algorithm>
#include <cmath>

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
    result.encoder = stage == 0 ? EncoderPart::whole() : EncoderPart{};
    return result;
}

PipelineShape pipelineOf(const TrainingPlan& plan, const Split& split)
{
    constexpr std::int64_t most = 1'000'000'000;
    PipelineShape shape{plan.parallel.schedule.value, split.pipeline, split.chunks,
                        std::clamp<std::int64_t>(microBatchesPerStep(plan), 1, most),
                        std::clamp<std::int64_t>(plan.parallel.vppGroup.valueOr(0), 0, most)};
    shape.extra = extraInFlight(vocabularySplit(plan), split.pipeline);
    shape.stages += encoderStages(plan);
    shape = effectivePipeline(shape);
    if (isFolded(shape.schedule) || shape.schedule == Schedule::DualPipe) {
        shape.chunks = 2;
    } else if (shape.schedule != Schedule::Interleaved) {
        shape.chunks = 1;
    }
    return shape;
}

/// Layers of the encoder on one of its own stages, a rest on the first ones.
EncoderPart encoderPart(const Working& working, std::int64_t stage)
{
    const std::int64_t stages = working.encoderStages;
    const std::int64_t layers = working.tower.layers / stages + (stage < working.tower.layers % stages ? 1 : 0);
    return {layers, working.tower.layers, stage == 0, stage + 1 == stages};
}

/// Images are dealt to all ranks that hold a copy of the encoder; the fullest one counts.
double imageShare(const TrainingPlan& plan, const Working& working)
{
    const std::int64_t copies = encoderCopies(plan);
    if (copies == 1) {
        return 1;
    }
    const double images = static_cast<double>(batchEquation(plan).micro.value_or(1))
        * static_cast<double>(sequencesPerSample(plan))
        * static_cast<double>(std::max<std::int64_t>(working.tower.images, 1));
    return std::ceil(images / static_cast<double>(copies)) / images;
}

void placeEncoder(const TrainingPlan& plan, Working& working)
{
    working.encoder = encoderPlacement(plan);
    working.encoderStages = encoderStages(plan);
    working.encoderTensor = encoderTensorParallel(plan);
    working.imageShare = imageShare(plan, working);
    if (working.encoder == EncoderPlacement::OwnStages) {
        constexpr double bytesPerValue = 2;
        working.imageFeatures = bytesPerValue * static_cast<double>(batchEquation(plan).micro.value_or(1))
            * static_cast<double>(sequencesPerSample(plan)) * static_cast<double>(working.tower.images)
            * static_cast<double>(working.projector.tokens) * static_cast<double>(working.model.hidden);
    }
}

std::vector<std::pair<LayerKind, std::int64_t>> kindsOf(const Architecture& model, const StageLayers& layers)
{
    auto counts = model.countKinds(layers.ranges[0].first, layers.ranges[0].count);
    const auto others = model.countKinds(layers.ranges[1].first, layers.ranges[1].count);
    counts.insert(counts.end(), others.begin(), others.end());
    return counts;
}

/// A micro-batch's images on this stage. Features that come from another stage stay until their gradient is sent back.
double visionBytes(const Working& working, const StageLayers& layers)
{
    const EncoderPart& encoder = layers.encoder;
    const double own = working.imageShare
        * (working.activations.tower * encoder.layerShare()
           + (encoder.holdsProjector ? working.activations.projector : 0));
    const bool receives = layers.holdsEmbedding && working.encoderStages > 0;
    return own + (receives ? working.imageFeatures : 0);
}

/// ZeRO-3 and FSDP gather a layer at a time: the one at work beside what was gathered for it or for the next one, in
/// backward also its gradients and those that are being reduced; tables and the last norm stay (theory.md 2.4). What
/// is not trained has no gradients.
void addGathered(const Working& working, StageWorking& stage)
{
    if (working.gatheredElement <= 0 || stage.layers.count() == 0) {
        return;
    }
    const ModelWeights& weights = working.weights;
    double layer = weights.denseLayer.total().real();
    if (working.model.isMoe()) {
        layer = std::max(layer, weights.moeLayer.total().real() + weights.layerExperts.total().real());
    }
    double root = stage.layers.holdsEmbedding ? weights.embedding.total().real() : 0;
    root += stage.layers.holdsHead ? weights.head.total().real() : 0;
    const double trained = working.trainable.language ? 1 : 0;
    stage.gathered = working.gatheredElement * (2 * layer + root);
    stage.gatheredBackward = stage.gathered + trained * layer * (working.gatheredElement + working.reducedElement);
}

/// A number a token in the place of the output layer, and no adapters.
void addValueModel(const TrainingPlan& plan, Working& working)
{
    working.value = valueModel(plan);
    working.reward = rewardModel(plan);
    const bool hasOwn = working.value == ValueModel::Separate || working.value == ValueModel::InTurn;
    if (hasOwn || working.reward == RewardModel::Separate) {
        working.valueModel = working.model;
        working.valueModel.labels = 1;
        working.valueModel.tied = working.valueModel.headBias = false;
        working.valueWeights = weightsPerGpu(working.valueModel, {}, {}, working.split, working.encoderTensor, {});
    }
}

/// Of the models beside the policy.
void addValueState(const Working& working, StageWorking& stage)
{
    const auto add = [&](Trainable trainable) {
        StateRecipe recipe = working.recipe;
        recipe.keepsReference = recipe.copiesTables = false;
        const StageWeights weights
            = stageWeights(working.valueWeights, working.valueModel, stage.layers, working.pipeline.stages);
        const StateBytes state = stateBytes(weights, recipe, working.sharding, trainable);
        stage.state.parameters += state.parameters;
        stage.state.gradients += working.value == ValueModel::InTurn ? 0 : state.gradients;
        stage.state.gradientCopies += state.gradientCopies;
        stage.state.master += state.master;
        stage.state.moments += state.moments;
    };
    if (working.value == ValueModel::Separate || working.value == ValueModel::InTurn) {
        add({.language = true});
    }
    if (working.reward == RewardModel::Separate) {
        add({.language = false});
    }
}

/// What FSDP does not reduce between micro-batches, where it does not: the first in the type of the computation, the
/// second in that of the reduction (torch/distributed/fsdp/_fully_shard/_fsdp_param.py).
double wholeGradientOf(const TrainingPlan& plan, const Working& working)
{
    const TorchHabits* habits = torchHabits(profileOf(plan));
    if (habits == nullptr || !accumulatesWhole(plan, *habits) || working.sharding.gradients <= 1) {
        return 0;
    }
    return usesFirstFsdp(plan, *habits) ? working.gatheredElement : working.reducedElement;
}

/// Of what trains on this stage.
double trainedElements(const Working& working, const StageWorking& stage, double trainedShare)
{
    const StageWeights& weights = stage.weights;
    const double language = weights.language.total().real() + weights.experts.total().real();
    const double adapters = weights.language.adapters.real() + weights.experts.adapters.real();
    return (working.trainable.language ? language * trainedShare : 0) + (working.trainable.adapters ? adapters : 0)
        + (working.trainable.vision ? weights.vision.total().real() : 0)
        + (working.trainable.projector ? weights.projector.total().real() : 0);
}

double trainedShareOf(const Working& working, const StageLayers& layers)
{
    const StageLayers::Range& range = layers.ranges[0]; // of two, the other is like it
    return working.parts.isAll()
        ? 1
        : trainedShare(working.parts, working.model, range.first, range.count, layers.holdsEmbedding, layers.holdsHead);
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
    result.encoder = result.holdsEmbedding ? EncoderPart::whole() : EncoderPart{};
    return result;
}

StageLayers stageLayers(const Working& working, const PipelineSplit& split, std::int64_t stage)
{
    StageLayers result;
    if (stage < working.encoderStages) {
        result.encoder = encoderPart(working, stage);
        return result;
    }
    result = stageLayers(split, stage - working.encoderStages, working.pipeline.schedule);
    if (working.encoder == EncoderPlacement::EveryStage) {
        result.encoder = EncoderPart::whole();
    } else if (working.encoder == EncoderPlacement::OwnStages) {
        result.encoder = {};
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
    result.parts = trainedPartsOf(plan).value_or(TrainedParts{});
    result.pipeline = pipelineOf(plan, result.split);
    result.split.chunks = result.pipeline.chunks;
    placeEncoder(plan, result);
    result.weights = weightsPerGpu(result.model, result.tower, result.projector, result.split, result.encoderTensor,
                                   adaptersOf(plan));
    addValueModel(plan, result);
    result.recipe = stateRecipe(plan);
    result.sharding = shardingOf(plan, result.split);
    result.activations = activationModel(plan, result.model, result.tower, result.projector, result.split, calibration);
    result.cachesWeights = plan.precision.autocast.value && result.recipe.parameter == 4;
    if (result.sharding.parameters > 1) {
        const bool isMixed = plan.precision.autocast.value || plan.precision.reduce.isKnown();
        result.gatheredElement = result.recipe.otherParameter == 4 && isMixed ? 2 : result.recipe.otherParameter;
        result.reducedElement
            = plan.precision.reduce.isKnown() ? bytesPerElement(plan.precision.reduce.value) : result.gatheredElement;
    }
    result.wholeGradient = wholeGradientOf(plan, result);
    return result;
}

StageWorking stageWorking(const Working& working, const PipelineSplit& split, std::int64_t stage)
{
    StageWorking result;
    result.layers = stageLayers(working, split, stage);
    result.weights = stageWeights(working.weights, working.model, result.layers, working.pipeline.stages);
    result.state = stateBytes(result.weights, working.recipe, working.sharding, working.trainable,
                              trainedShareOf(working, result.layers));
    addValueState(working, result);
    std::int64_t expertLayers = 0;
    for (const StageLayers::Range& range : result.layers.ranges) {
        expertLayers += working.model.moeLayers(range.first, range.count);
    }
    result.activations = working.model.isHybrid()
        ? stageActivations(working.activations, kindsOf(working.model, result.layers), working.pipeline.chunks)
        : stageActivations(working.activations, result.layers.count() - expertLayers, expertLayers,
                           working.pipeline.chunks);
    // A micro-batch passes through one copy of the layers.
    result.activations.kept /= static_cast<double>(layerCopies(working.pipeline.schedule));
    if (working.value == ValueModel::Separate) {
        result.activations.kept *= 2; // its forward has run when the policy's does
    }
    result.held = inFlight(working.pipeline, stage);
    if (result.layers.holdsEmbedding) {
        result.activations.kept += working.activations.encoder;
        result.activations.rebuilt = std::max(result.activations.rebuilt, working.activations.encoderRebuilt);
    }
    result.rebuilt = result.activations.rebuilt;
    result.vision = visionBytes(working, result.layers);
    if (result.layers.encoder.layers > 0) {
        result.rebuilt = std::max(result.rebuilt, working.activations.visionRebuilt * working.imageShare);
    }
    if (working.encoder == EncoderPlacement::EveryStage) {
        // The encoder's backward waits for the first stage's.
        result.held.firstChunk = inFlight(working.pipeline, 0).firstChunk;
    }
    addGathered(working, result);
    result.wholeGradients
        = working.wholeGradient * trainedElements(working, result, trainedShareOf(working, result.layers));
    if (working.cachesWeights) {
        result.weightCache = 2 * (result.weights.language.matrices + result.weights.experts.matrices).real();
    }
    return result;
}

} // namespace headroom
