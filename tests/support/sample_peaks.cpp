// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/sample_peaks.h"

#include "plan/batch.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"

#include <algorithm>

namespace headroom::samples {

namespace {

double real(const Count& count)
{
    return static_cast<double>(count.value);
}

double number(std::int64_t value)
{
    return static_cast<double>(value);
}

bool knowsTheLayer(const ModelPlan& model)
{
    return model.heads.isKnown() && model.ffn.isKnown();
}

/// 2 for a gated MLP, whose first projection has two outputs.
double firstProjections(const ModelPlan& model)
{
    return model.gatedMlp.value ? 2 : 1;
}

/// The widths of the queries and of the keys (and values) of one layer.
struct Widths
{
    double query, key;
};

Widths attentionWidths(const ModelPlan& model)
{
    const double heads = real(model.heads);
    const double perHead = model.headDim.isKnown() ? real(model.headDim) : real(model.hidden) / heads;
    return {heads * perHead, (model.kvHeads.isKnown() ? real(model.kvHeads) : heads) * perHead};
}

double layerParameters(const ModelPlan& model)
{
    const double h = real(model.hidden);
    if (!knowsTheLayer(model)) {
        return 12 * h * h;
    }
    const auto [query, key] = attentionWidths(model);
    const double biases = model.attnBias.value ? query + 2 * key : 0;
    return h * (query + 2 * key) + query * h + biases + (firstProjections(model) + 1) * h * real(model.ffn) + 2 * h;
}

/// Bytes one layer keeps of one token for backward.
double keptPerToken(const TrainingPlan& plan)
{
    const ModelPlan& model = plan.model;
    const double t = real(plan.parallel.tp);
    const double h = real(model.hidden);
    const double norms = 8 * h / (plan.parallel.sp.value ? t : 1);
    if (!knowsTheLayer(model)) {
        return norms + 24 * h / t;
    }
    const auto [query, key] = attentionWidths(model);
    const double attention = 2 * (query + 2 * key) + 2 * query + 4 * real(model.heads);
    return norms + (attention + 2 * (firstProjections(model) + 1) * real(model.ffn)) / t;
}

bool recomputesEverything(const TrainingPlan& plan)
{
    return plan.recompute.enabled.value && plan.recompute.granularity.value == Granularity::Full;
}

struct Parameters
{
    double trained = 0, frozen = 0; ///< on one GPU
};

/// The vision tower with its projector: blocks of 4h² + 2hf with biases and LayerNorms, the patch embedding, and the
/// merger of m × m patches (LayerNorm, a square layer, a layer to the language model's width).
Parameters visionParameters(const TrainingPlan& plan)
{
    const VisionPlan& vision = plan.vision;
    if (!vision.layers.isKnown()) {
        return {};
    }
    const double h = real(vision.hidden);
    const double f = real(vision.ffn);
    const double patch = 3 * std::max(1.0, real(vision.temporalPatch)) * real(vision.patch) * real(vision.patch) * h;
    const double tower = real(vision.layers) * (4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h) + patch;
    const double merged = std::max(1.0, real(vision.merge) * real(vision.merge)) * h;
    const double merger = 2 * h + merged * merged + merged + merged * real(plan.model.hidden) + real(plan.model.hidden);
    Parameters result;
    (plan.frozen.vision.value ? result.frozen : result.trained) += tower;
    (plan.frozen.projector.value ? result.frozen : result.trained) += merger;
    return result;
}

Parameters stageParameters(const TrainingPlan& plan, std::int64_t stage, double layers)
{
    const ModelPlan& model = plan.model;
    const double t = real(plan.parallel.tp);
    const bool last = stage == plan.parallel.pp.value - 1;
    const double embedding = real(model.vocab) * real(model.hidden);
    double count = layers * layerParameters(model);
    Parameters result;
    if (stage == 0) {
        count += embedding;
        result = visionParameters(plan);
    }
    // The recipe's own model (V·h once) ends with the tied matrix, which more than one stage means two copies of.
    const bool tied = model.tiedEmbeddings.value || !knowsTheLayer(model);
    if (last && (!tied || stage != 0)) {
        count += embedding;
    }
    result.trained = (result.trained + count) / t;
    result.frozen /= t;
    return result;
}

/// Bytes of the attention scores of the vision tower, all patches of a micro-batch in one matrix per head.
double visionScores(const TrainingPlan& plan)
{
    const VisionPlan& vision = plan.vision;
    const double side = real(vision.imageSize) / real(vision.patch);
    const double patches = real(plan.batch.micro) * real(vision.imagesPerSample) * side * side;
    return 6 * real(vision.heads) / real(plan.parallel.tp) * patches * patches;
}

} // namespace

std::array<double, phaseCount> peaksOfStage(const TrainingPlan& plan, const Circumstances& circumstances,
                                            std::int64_t stage, double fill, bool firstStep)
{
    const ModelPlan& model = plan.model;
    const double t = real(plan.parallel.tp);
    const double layers = number(layersPerStage(plan).at(static_cast<std::size_t>(stage)));
    const std::int64_t stages = plan.parallel.pp.value;
    const std::int64_t inFlight = std::min(microBatchesPerStep(plan), stages - stage);
    const double tokens = real(plan.batch.micro) * real(plan.batch.seq) * fill;

    const Parameters parameters = stageParameters(plan, stage, layers);
    const PrecisionRecipe types = effectivePrecision(plan);
    const double weights = (parameters.trained + parameters.frozen) * bytesPerElement(types.params);
    const double gradients = parameters.trained * bytesPerElement(types.grads);
    const double moments = parameters.trained * (bytesPerElement(types.optM) + bytesPerElement(types.optV));
    const double resident = weights + parameters.trained * bytesPerElement(types.master) + (firstStep ? 0 : moments);

    const double full = tokens * keptPerToken(plan); // of one layer
    const double input
        = 2 * tokens * real(model.hidden) / (plan.parallel.sp.value ? t : 1); // what full recompute keeps
    const bool recompute = recomputesEverything(plan);
    const double microBatch = layers * (recompute ? input : full);
    const double kept = number(inFlight) * microBatch;
    const double head = stage == stages - 1 ? 6 * tokens * real(model.vocab) / t : 0;
    const double transient = gradientsInPassing(plan, fill);

    // With more micro-batches than fit in flight, forwards follow backwards, and gradients are there already.
    const double early = microBatchesPerStep(plan) > inFlight ? gradients : 0;
    double forward = resident + early + kept + head;
    if (circumstances.unfusedVisionAttention && stage == 0) {
        // The tower runs before the language model keeps anything of this micro-batch.
        forward = std::max(forward, resident + early + kept - microBatch + visionScores(plan));
    }
    const double backward = resident + gradients + kept + std::max(head, (recompute ? full - input : 0) + transient);
    const double optimizer = weights + gradients + parameters.trained * bytesPerElement(types.master) + moments
        + parameters.trained * circumstances.optimizerTemporary;
    return {forward, backward, optimizer};
}

double gradientsInPassing(const TrainingPlan& plan, double fill)
{
    const ModelPlan& model = plan.model;
    const double tokens = real(plan.batch.micro) * real(plan.batch.seq) * fill;
    const double ffn = knowsTheLayer(model) ? real(model.ffn) : 4 * real(model.hidden);
    return 2 * tokens * (real(model.hidden) + firstProjections(model) * ffn / real(plan.parallel.tp));
}

double operationsPerStep(const TrainingPlan& plan)
{
    const double tokens
        = real(plan.batch.micro) * number(microBatchesPerStep(plan) * dataParallelSize(plan)) * real(plan.batch.seq);
    const double parameters
        = real(plan.model.layers) * layerParameters(plan.model) + real(plan.model.vocab) * real(plan.model.hidden);
    return (recomputesEverything(plan) ? 8 : 6) * parameters * tokens;
}

} // namespace headroom::samples
