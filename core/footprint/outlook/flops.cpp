// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/outlook/flops.h"

#include "footprint/recipe/activations.h"

#include <algorithm>
#include <string_view>

namespace headroom {

namespace {

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

/// Attention's matrices (theory.md 1.1 and 1.2), without norms and biases.
double attentionWeights(const Architecture& model)
{
    const double hidden = real(model.hidden);
    if (model.isMla) {
        const double key = real(model.nopeDim + model.ropeDim);
        const double queries = model.qLoraRank > 0 ? real(model.qLoraRank) * (hidden + real(model.heads) * key)
                                                   : hidden * real(model.heads) * key;
        const double latent = hidden * real(model.kvLoraRank + model.ropeDim);
        const double expanded = real(model.kvLoraRank) * real(model.heads) * real(model.nopeDim + model.valueDim);
        return queries + latent + expanded + real(model.heads) * real(model.valueDim) * hidden;
    }
    if (model.heads == 0) {
        return 4 * hidden * hidden;
    }
    const double query = real(model.heads) * real(model.headDim);
    return hidden * (query + 2 * real(model.groups) * real(model.headDim)) + query * hidden;
}

double scoreFlops(const Architecture& model, double keys)
{
    if (model.isMla) {
        return 2 * keys * real(model.heads) * real(model.nopeDim + model.ropeDim + model.valueDim);
    }
    return 4 * keys * (model.heads > 0 ? real(model.heads) * real(model.headDim) : real(model.hidden));
}

double mlpFlops(double width, double ffn, std::int64_t gate)
{
    return 2 * real(gate + 1) * width * ffn;
}

/// What recomputing a module by name repeats (theory.md 3.9); element-wise modules cost nothing here.
double moduleFlops(const LayerFlops& layer, std::string_view module, double upProjection)
{
    const auto isAny = [module](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), module) != names.end();
    };
    if (isAny({"core_attn", "core_attention"})) {
        return layer.scores;
    }
    if (isAny({"attention", "attn", "self_attn", "self_attention"})) {
        return layer.projections + layer.scores;
    }
    if (module == "mlp") {
        return layer.routed > 0 ? 0 : layer.mlp;
    }
    if (module == "moe") {
        return layer.routed > 0 ? layer.mlp + layer.routed : 0;
    }
    if (module == "shared_experts") {
        return layer.routed > 0 ? layer.mlp : 0;
    }
    return module == "mla_up_proj" ? upProjection : 0;
}

/// The share of a stage's layers that backward runs forward again, by the counts of Recompute.
double recomputedPart(const Recompute& recompute, double layers, double chunks)
{
    switch (recompute.kind) {
    case Recompute::Kind::None:
    case Recompute::Kind::Modules:
        return 0;
    case Recompute::Kind::Uniform:
        return 1;
    case Recompute::Kind::Block:
        break;
    }
    const double chunkLayers = std::max(layers, 1.0) / chunks;
    return recompute.blockLayers(chunkLayers, chunks) / chunkLayers;
}

double recomputedModules(const TrainingPlan& plan, const Architecture& model, const LayerFlops& layer)
{
    const double upProjection = model.isMla ? 2 * real(model.heads)
            * (real(model.qLoraRank) * real(model.nopeDim + model.ropeDim)
               + real(model.kvLoraRank) * real(model.nopeDim + model.valueDim))
                                            : 0;
    if (!plan.recompute.modules.isKnown() || plan.recompute.modules.value.empty()) {
        return moduleFlops(layer, "core_attn", upProjection); // what selective means where nothing is named
    }
    double sum = 0;
    for (const std::string& module : plan.recompute.modules.value) {
        sum += moduleFlops(layer, module, upProjection);
    }
    return std::min(sum, layer.total());
}

/// Adds `flops` of forward work, of which `scores` belong to no weight.
void addPass(StageFlops& stage, double flops, double scores, bool passesGradients, bool trains)
{
    stage.forward += flops;
    stage.scores += scores;
    // Both products of attention have two gradients, and all of them are gradients of inputs.
    stage.inputGradients += passesGradients ? flops + scores : 0;
    stage.weightGradients += trains ? flops - scores : 0;
}

void addVision(const Working& working, const EncoderPart& part, StageFlops& stage)
{
    const VisionTower& tower = working.tower;
    const Architecture model = asModel(tower);
    const double tokens = working.activations.visionTokens * working.imageShare / real(working.encoderTensor);
    const LayerFlops layer = denseLayerFlops(model, real(tower.tokens));
    const double layers = real(tower.layers) * part.layerShare();
    const bool trains = working.trainable.vision;
    addPass(stage, tokens * layers * layer.total(), tokens * layers * layer.scores, trains, trains);
    stage.recomputed += trains && working.activations.recompute.vision ? tokens * layers * layer.total() : 0;
}

} // namespace

LayerFlops denseLayerFlops(const Architecture& model, double keys)
{
    return {2 * attentionWeights(model), scoreFlops(model, keys),
            mlpFlops(real(model.hidden), real(model.ffn), model.gate), 0};
}

LayerFlops expertLayerFlops(const Architecture& model, double keys)
{
    LayerFlops layer = denseLayerFlops(model, keys);
    const double hidden = real(model.hidden);
    const double width = model.latent > 0 ? real(model.latent) : hidden;
    layer.mlp = 2 * hidden * real(model.experts) + mlpFlops(hidden, real(model.sharedFfn), model.gate)
        + (model.latent > 0 ? 4 * hidden * width : 0);
    layer.routed = real(model.topk) * mlpFlops(width, real(model.expertFfn), model.gate);
    return layer;
}

double headFlops(const Architecture& model)
{
    return 2 * real(model.hidden) * real(model.labels > 0 ? model.labels : model.vocab);
}

double averageKeys(const TrainingPlan& plan)
{
    const double sequence = real(std::max<std::int64_t>(plan.batch.seq.value, 0));
    if (plan.model.attnWindow.isKnown() && plan.model.attnWindow.value > 0
        && real(plan.model.attnWindow.value) < sequence) {
        return real(plan.model.attnWindow.value);
    }
    const bool isCausal = plan.model.family.value != "bert" && plan.model.family.value != "t5";
    return isCausal && scoreBytes(plan) == 0 ? sequence / 2 : sequence;
}

StageFlops stageFlops(const TrainingPlan& plan, const Working& working, const StageLayers& layers)
{
    const Architecture& model = working.model;
    const double keys = averageKeys(plan);
    const double tokens = working.activations.tokens / real(working.split.tensor);
    const Trainable& trainable = working.trainable;
    const bool trains = trainable.language;
    const bool passes = trains || trainable.adapters || trainable.vision || trainable.projector;
    std::int64_t expertLayers = 0;
    for (const StageLayers::Range& range : layers.ranges) {
        expertLayers += model.moeLayers(range.first, range.count);
    }
    const LayerFlops dense = denseLayerFlops(model, keys);
    LayerFlops expert = expertLayerFlops(model, keys);
    expert.routed *= std::max(plan.moe.load.valueOr(1), 0.0);
    StageFlops stage;
    const Recompute& recompute = working.activations.recompute;
    const double share = recomputedPart(recompute, real(layers.count()), real(working.pipeline.chunks));
    const double copies = real(layerCopies(working.pipeline.schedule)); // a micro-batch passes through one of them
    for (const auto& [layer, count] :
         {std::pair<const LayerFlops*, std::int64_t>{&dense, layers.count() - expertLayers}, {&expert, expertLayers}}) {
        const double factor = tokens * real(count) / copies;
        addPass(stage, factor * layer->total(), factor * layer->scores, passes, trains);
        const double repeated = recompute.kind == Recompute::Kind::Modules ? recomputedModules(plan, model, *layer)
                                                                           : share * layer->total();
        stage.recomputed += passes ? factor * repeated : 0;
    }
    if (layers.holdsEmbedding && model.hasEncoder()) {
        const double memory = real(plan.batch.seq.value);
        const LayerFlops layer = denseLayerFlops(model, memory);
        const double factor = tokens * memory / std::max(real(layerSequence(plan)), 1.0) * real(model.encoderLayers);
        addPass(stage, factor * layer.total(), factor * layer.scores, passes, trains);
        stage.recomputed += passes ? factor * share * layer.total() : 0;
    }
    if (layers.holdsHead) {
        const double predictor = model.isMoe() ? expert.total() : dense.total();
        const double joined = 4 * real(model.hidden) * real(model.hidden); // the concatenation's projection
        const double depth = real(model.mtpLayers);
        const double head = headFlops(model) * (1 + depth) + depth * (predictor + joined);
        addPass(stage, tokens * head / copies, 0, passes, trains);
    }
    if (layers.encoder.layers > 0 && working.tower.isPresent()) {
        addVision(working, layers.encoder, stage);
    }
    return stage;
}

} // namespace headroom
