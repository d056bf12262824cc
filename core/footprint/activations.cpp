// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/activations.h"

#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/recomputed_share.h"

#include <cmath>
#include <string_view>

namespace headroom {

namespace {

using enum Kept;

constexpr double bytesPerValue = 2; // activations are 16-bit

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

void addAttention(LayerTensors& layer, const Architecture& model, const Split& split)
{
    const double tensor = real(split.tensor);
    const double outside = real(split.outside());
    if (model.isMla) {
        const double heads = real(model.heads) / tensor;
        const double key = real(model.nopeDim + model.ropeDim);
        layer[Latents] = bytesPerValue
            * ((2 * real(model.qLoraRank) + 2 * real(model.kvLoraRank) + real(model.ropeDim)) / outside
               + real(model.ropeDim));
        layer[QueryKeyValue] = bytesPerValue * heads * (2 * key + real(model.valueDim));
        layer[AttentionOutput] = bytesPerValue * heads * real(model.valueDim);
    } else if (model.heads > 0) {
        const double queries = real(model.heads) * real(model.headDim) / tensor;
        const double keys = std::max(real(model.groups) / tensor, 1.0) * real(model.headDim);
        layer[QueryKeyValue] = bytesPerValue * (queries + 2 * keys);
        layer[AttentionOutput] = bytesPerValue * queries;
    } else {
        layer[QueryKeyValue] = 3 * bytesPerValue * real(model.hidden) / tensor;
        layer[AttentionOutput] = bytesPerValue * real(model.hidden) / tensor;
    }
    layer[LogSumExp] = 4 * real(model.heads) / tensor;
}

/// Norms and attention: what layers with and without experts have in common.
LayerTensors commonTensors(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery)
{
    LayerTensors layer;
    const double stream = bytesPerValue * real(model.hidden) / real(split.outside());
    // Side by side, attention and MLP read one stream, through a norm each or through the same one.
    const double norms = real(model.blockNorms);
    layer[NormInputs] = (model.isParallel ? 1 : 2) * stream;
    layer[AttentionNorm] = stream;
    layer[MlpNorm] = (norms - 1) * stream;
    if (!model.isTextbook) {
        layer[NormStatistics] = norms * (model.layerNorm ? 8.0 : 4.0) / real(split.outside());
    }
    addAttention(layer, model, split);
    layer[DropoutMasks] = model.hiddenDropout ? stream : 0; // two masks of one byte a value
    layer[Scores] = scoreSize * real(model.heads) / real(split.tensor) * keysPerQuery;
    return layer;
}

/// Tokens of a sample that a decoder attends to across, and its own.
struct CrossTokens
{
    double memory = 0, own = 0;
};

/// A decoder's second attention: queries of its own tokens, keys and values of the encoder's, whose states it shares
/// with all other layers.
LayerTensors withCrossAttention(LayerTensors layer, const Architecture& model, const Split& split, double scoreSize,
                                const CrossTokens& tokens)
{
    if (tokens.memory <= 0 || tokens.own <= 0) {
        return layer;
    }
    const double stream = bytesPerValue * real(model.hidden) / real(split.outside());
    const double queries = bytesPerValue * real(model.heads) * real(model.headDim) / real(split.tensor);
    const double keys = bytesPerValue * std::max(real(model.groups) / real(split.tensor), 1.0) * real(model.headDim);
    layer[NormInputs] += stream;
    layer[AttentionNorm] += stream;
    layer[NormStatistics] += (model.layerNorm ? 8.0 : 4.0) / real(split.outside());
    layer[QueryKeyValue] += queries + 2 * keys * tokens.memory / tokens.own;
    layer[AttentionOutput] += queries;
    layer[LogSumExp] += 4 * real(model.heads) / real(split.tensor);
    layer[DropoutMasks] += model.hiddenDropout ? stream / 2 : 0;
    layer[Scores] += scoreSize * real(model.heads) / real(split.tensor) * tokens.memory;
    return layer;
}

bool isAny(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

void drop(LayerTensors& layer, std::initializer_list<Kept> tensors)
{
    for (const Kept tensor : tensors) {
        layer[tensor] = 0;
    }
}

/// Modules as Megatron-LM names them, and the plain words other frameworks use (theory.md 3.9). A checkpointed MLP
/// rebuilds the norm fused into it; a checkpointed mixture keeps its input.
void dropModule(LayerTensors& layer, std::string_view module, bool isMla)
{
    if (isAny(module, {"core_attn", "core_attention"})) {
        drop(layer, {LogSumExp, Scores});
    } else if (isAny(module, {"attention", "attn", "self_attn", "self_attention"})) {
        drop(layer, {Latents, QueryKeyValue, AttentionOutput, LogSumExp, Scores});
    } else if (module == "mlp") {
        if (layer[Hidden] > 0) {
            drop(layer, {MlpNorm, Hidden, Activated});
        }
    } else if (isAny(module, {"layernorm", "norm"})) {
        drop(layer, {AttentionNorm, MlpNorm});
    } else if (module == "moe") {
        drop(layer,
             {Router, ExpertInput, ExpertHidden, ExpertActivated, ExpertProbabilities, SharedHidden, SharedActivated});
    } else if (module == "moe_act") {
        drop(layer, {ExpertActivated});
    } else if (isAny(module, {"act", "activation", "mlp_act"})) {
        drop(layer, {Activated, ExpertActivated, SharedActivated});
    } else if (module == "shared_experts") {
        drop(layer, {SharedHidden, SharedActivated});
    } else if (module == "mla_up_proj" && isMla) {
        drop(layer, {QueryKeyValue});
    }
}

/// Frozen weights need no inputs for a weight gradient; the rest must stay for the gradient that passes through
/// (theory.md 3.7).
void dropForFrozenWeights(LayerTensors& layer)
{
    drop(layer, {AttentionNorm, MlpNorm, Activated, ExpertInput, ExpertActivated, SharedActivated});
}

/// Whether gradients reach the language model at all and whether its weights want some.
enum class Flow : std::uint8_t { None, Through, Trained };

Flow languageFlow(const Trainable& trainable)
{
    if (trainable.language || trainable.adapters) {
        return Flow::Trained;
    }
    return trainable.vision || trainable.projector ? Flow::Through : Flow::None;
}

LayerBytes layerBytes(LayerTensors layer, const TrainingPlan& plan, const Recompute& recompute, Flow flow, bool isMla)
{
    if (flow == Flow::None) {
        return {};
    }
    if (flow == Flow::Through) {
        dropForFrozenWeights(layer);
    }
    LayerBytes result{layer.total(), layer.total(), offloadedPerToken(layer, plan)};
    if (recompute.kind != Recompute::Kind::Modules) {
        return result;
    }
    if (plan.recompute.modules.isKnown() && !plan.recompute.modules.value.empty()) {
        for (const std::string& module : plan.recompute.modules.value) {
            dropModule(layer, module, isMla);
        }
    } else {
        dropModule(layer, "core_attn", isMla); // what selective means where nothing is named
    }
    result.kept = layer.total();
    result.offloaded = offloadedPerToken(layer, plan);
    return result;
}

/// Bytes per image. Trained linear layers keep their inputs; a frozen one only passes gradients of the encoder on.
double projectorBytes(const Projector& projector, double patches, const Trainable& trainable)
{
    if (!trainable.projector && !trainable.vision) {
        return 0;
    }
    const double tokens = real(projector.tokens);
    const double inputs = trainable.projector ? 1 : 0;
    const double merged = real(projector.in) * real(projector.merge) * real(projector.merge);
    const double hidden = bytesPerValue * tokens * (1 + inputs);
    switch (projector.kind) {
    case Projector::Kind::None:
        return 0;
    case Projector::Kind::Linear:
        return inputs * bytesPerValue * tokens * real(projector.in);
    case Projector::Kind::Mlp:
        return inputs * bytesPerValue * tokens * real(projector.in)
            + hidden * real(projector.hidden) * real(projector.layers - 1);
    case Projector::Kind::PatchMerger:
        return (real(projector.deepstack) + 1) * ((1 + inputs) * bytesPerValue * tokens * merged + hidden * merged);
    case Projector::Kind::PixelShuffle:
        return (1 + inputs) * bytesPerValue * tokens * merged + hidden * real(projector.hidden);
    case Projector::Kind::Perceiver: // the MLP's input, gate, value and product, then blocks as below
        return inputs * bytesPerValue * patches * (real(projector.in) + 3 * real(projector.hidden))
            + real(projector.layers) * real(projector.out) * (60 * tokens + 4 * patches);
    case Projector::Kind::Resampler: // blocks like a GPT layer over the queries, keys and values over the patches
        return real(projector.layers) * real(projector.hidden) * (32 * tokens + 4 * patches);
    }
    return 0;
}

void addVision(ActivationModel& result, const TrainingPlan& plan, const VisionTower& tower, const Projector& projector,
               const Split& split)
{
    if (!tower.isPresent()) {
        return;
    }
    const Trainable trainable = trainableOf(plan);
    const double images
        = real(batchEquation(plan).micro.value_or(1)) * real(sequencesPerSample(plan)) * real(tower.images);
    result.visionTokens = images * real(tower.tokens);
    result.projector = images * projectorBytes(projector, real(tower.tokens), trainable);
    if (!trainable.vision) {
        return; // nothing upstream of a frozen encoder wants gradients: it keeps nothing
    }
    const Architecture layer = asModel(tower);
    const double whole = result.visionTokens * denseLayer(layer, split, scoreBytes(plan), real(tower.tokens)).total();
    const double input = result.visionTokens * bytesPerValue * real(tower.hidden) / real(split.outside());
    result.tower = real(tower.layers) * (result.recompute.vision ? input : whole);
    result.visionRebuilt = result.recompute.vision ? std::max(whole - input, 0.0) : 0;
}

/// The average layer of a hybrid.
template <class Function>
void averageKinds(const Architecture& model, const Function& inKind, const Split& split, LayerBytes& result)
{
    result = {};
    for (const auto& [kind, count] : model.countKinds(0, model.layers)) {
        LayerBytes layer = inKind(kind, split);
        layer *= real(count) / std::max(real(model.layers), 1.0);
        result.whole += layer.whole;
        result.kept += layer.kept;
        result.offloaded += layer.offloaded;
    }
}

double average(double dense, double expert, double expertShare)
{
    return dense + (expert - dense) * expertShare;
}

double effectiveK(const ActivationModel& model, double keptK, double layers, double stages)
{
    const double input = std::min(1.0, model.k);
    switch (model.recompute.kind) {
    case Recompute::Kind::None:
        return model.k;
    case Recompute::Kind::Modules:
        return keptK;
    case Recompute::Kind::Uniform:
        return input * std::ceil(layers / real(model.recompute.group)) / std::max(layers, 1.0);
    case Recompute::Kind::Block:
        break;
    }
    const double perStage = std::max(layers, 1.0) / stages;
    return average(model.k, input, model.recompute.blockLayers(perStage, 1) / perStage);
}

} // namespace

double Recompute::blockLayers(double chunkLayers, double chunks) const
{
    const double asked = share >= 0 ? layersOfShare(share, chunkLayers) : real(layers) / (perChunk ? 1.0 : chunks);
    return everyLayer ? chunkLayers : std::min(asked, chunkLayers);
}

LayerBytes& LayerBytes::operator*=(double scale)
{
    whole *= scale;
    kept *= scale;
    offloaded *= scale;
    return *this;
}

double LayerTensors::total() const
{
    double sum = 0;
    for (const double tensor : bytes) {
        sum += tensor;
    }
    return sum;
}

double scoreBytes(const TrainingPlan& plan)
{
    const std::string& name = plan.attention.impl.value;
    if (!plan.attention.impl.isKnown()) {
        return 0;
    }
    const double dropout = plan.model.attnDropout.valueOr(0) > 0 ? 1 + 2 : 0;
    if (name == "eager") {
        return 6 + dropout;
    }
    return isAny(name, {"unfused", "local", "math"}) ? 2 + dropout : 0;
}

LayerTensors denseLayer(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery)
{
    LayerTensors layer = commonTensors(model, split, scoreSize, keysPerQuery);
    const double width = real(model.ffn) / real(split.tensor);
    layer[Hidden] = bytesPerValue * real(model.gate) * width;
    layer[Activated] = bytesPerValue * width;
    return layer;
}

LayerTensors expertLayer(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery,
                         double capacityFactor)
{
    LayerTensors layer = commonTensors(model, split, scoreSize, keysPerQuery);
    const double outside = real(split.outside());
    const double experts = real(model.experts);
    const double topk = real(model.topk);
    // Scores, top-k indices and values, and the fused permutation map (theory_moe_cp.md 4).
    layer[Router] = (4 * experts + 12 * topk + 4 * (2 * experts + 1)) / outside;
    // Rows that reach the local experts for each token: sequence shards are gathered over expert tensor parallelism.
    const double rows = topk * capacityFactor * std::min(real(split.expertTensor) / outside, 1.0);
    const double width = real(model.expertFfn) / real(split.expertTensor);
    layer[ExpertInput] = bytesPerValue * rows * real(model.latent > 0 ? model.latent : model.hidden);
    layer[ExpertHidden] = bytesPerValue * rows * real(model.gate) * width;
    layer[ExpertActivated] = bytesPerValue * rows * width;
    layer[ExpertProbabilities] = 4 * rows;
    const double shared = real(model.sharedFfn) / real(split.tensor);
    layer[SharedHidden] = bytesPerValue * real(model.gate) * shared;
    layer[SharedActivated] = bytesPerValue * shared;
    return layer;
}

Recompute recomputeOf(const TrainingPlan& plan)
{
    const RecomputePlan& recompute = plan.recompute;
    Recompute result;
    const bool isDecided = recompute.enabled.isKnown() && recompute.enabled.origin.kind != OriginKind::Default;
    const bool isOn = isDecided ? recompute.enabled.value : recompute.granularity.isStated();
    if (!isOn || recompute.granularity.value == Granularity::None) {
        return result;
    }
    result.vision = recompute.vision.value;
    const bool hasCount = recompute.numLayers.isKnown() && recompute.numLayers.value > 0;
    if (const auto share = recomputedShare(recompute)) {
        result.kind = Recompute::Kind::Block;
        result.share = *share;
        result.everyLayer = *share >= 1;
        result.perChunk = true;
    } else if (recompute.granularity.value == Granularity::Selective) {
        result.kind = hasCount ? Recompute::Kind::Block : Recompute::Kind::Modules;
        result.layers = hasCount ? recompute.numLayers.value : 0;
    } else if (recompute.method.value == "uniform") {
        result.kind = Recompute::Kind::Uniform;
        result.group = hasCount ? recompute.numLayers.value : 1;
    } else {
        result.kind = Recompute::Kind::Block;
        result.everyLayer = !(recompute.method.value == "block" && hasCount);
        result.layers = recompute.numLayers.value;
        result.perChunk = true;
    }
    return result;
}

/// `tokens` of the encoder, whose layers keep `layer` a token. Its last norm's input and result serve all layers of the
/// decoder; of sound, the spectrogram and both sides of two activations, the first at twice the rate (transformers
/// modeling_whisper.py, WhisperEncoder).
static void addEncoder(const Architecture& model, const Split& split, double tokens, double scale, LayerBytes layer,
                       ActivationModel& result)
{
    layer.whole *= scale;
    layer.kept *= scale;
    ActivationModel own = result;
    own.tokens = tokens;
    own.dense = layer;
    own.offload = {};
    const StageActivations kept = stageActivations(own, model.encoderLayers, 0, 1);
    const double stream = bytesPerValue * tokens * real(model.hidden) / real(split.outside());
    const double sound
        = model.audioBins > 0 ? bytesPerValue * tokens * (2 * real(model.audioBins) + 5 * real(model.hidden)) : 0;
    result.encoder = kept.kept + (kept.kept > 0 ? 2 * stream + sound : 0);
    result.encoderRebuilt = kept.rebuilt;
}

ActivationModel activationModel(const TrainingPlan& plan, const Architecture& model, const VisionTower& tower,
                                const Projector& projector, const Split& split, const Calibration& calibration)
{
    ActivationModel result;
    const double sequence = real(layerSequence(plan));
    const double samples = real(batchEquation(plan).micro.value_or(1)) * real(sequencesPerSample(plan));
    const double tokens
        = plan.batch.tokensPerMicrobatch.isKnown() ? real(plan.batch.tokensPerMicrobatch.value) : samples * sequence;
    result.tokens = std::max(tokens, 0.0) / real(split.context);
    result.recompute = recomputeOf(plan);
    result.offload = activationOffload(plan);

    const Flow flow = languageFlow(trainableOf(plan));
    const double scores = scoreBytes(plan);
    const double capacity = std::max(plan.moe.capacityFactor.valueOr(1.0), 0.0);
    const auto bytesOf
        = [&](const LayerTensors& layer) { return layerBytes(layer, plan, result.recompute, flow, model.isMla); };
    const Split alone;
    const double memory = model.hasEncoder() ? real(plan.batch.seq.value) : 0;
    const auto decoder = [&](const Split& over) {
        return withCrossAttention(denseLayer(model, over, scores, sequence), model, over, scores, {memory, sequence});
    };
    LayerBytes denseAlone = bytesOf(decoder(alone));
    LayerBytes expertAlone;
    result.dense = bytesOf(decoder(split));
    double expertShare = 0;
    if (model.isHybrid()) {
        const auto inKind = [&](LayerKind kind, const Split& ranks) {
            LayerTensors layer = kind.feedForward == FeedForward::Experts
                ? expertLayer(model, ranks, scores, sequence, capacity)
                : denseLayer(model, ranks, scores, sequence);
            keepKind(kind, model, ranks, layer);
            return bytesOf(layer);
        };
        averageKinds(model, inKind, alone, denseAlone);
        for (const auto& [kind, count] : model.countKinds(0, model.layers)) {
            result.kinds.emplace_back(kind, inKind(kind, split));
        }
    } else if (model.isMoe()) {
        expertAlone = bytesOf(expertLayer(model, alone, scores, sequence, capacity));
        result.expert = bytesOf(expertLayer(model, split, scores, sequence, capacity));
        expertShare = real(model.moeLayers(0, model.layers)) / std::max(real(model.layers), 1.0);
    }
    const double unit = bytesPerValue * std::max(real(model.hidden), 1.0);
    result.theoryK = average(denseAlone.whole, expertAlone.whole, expertShare) / unit;
    result.k = calibration.k.value_or(result.theoryK);
    const double scale = result.theoryK > 0 ? result.k / result.theoryK : 0;
    for (LayerBytes* layer : {&result.dense, &result.expert}) {
        *layer *= scale;
    }
    for (auto& [kind, layer] : result.kinds) {
        layer *= scale;
    }
    const bool isShared = plan.recompute.distribute.value && !split.sequence;
    result.input = std::min(unit, unit * result.k) / real(isShared ? split.tensor : split.outside());
    const double chunksCounted = result.recompute.perChunk ? real(split.chunks) : 1.0;
    const double keptK = scale * average(denseAlone.kept, expertAlone.kept, expertShare) / unit;
    result.effectiveK = effectiveK(result, keptK, real(model.layers), real(split.pipeline) * chunksCounted);
    if (model.hasEncoder()) {
        const LayerBytes layer = bytesOf(denseLayer(model, split, scores, memory));
        addEncoder(model, split, samples * memory / real(split.context), scale, layer, result);
    }
    Split encoder = split;
    encoder.tensor = encoderTensorParallel(plan);
    encoder.sequence = split.sequence && encoder.tensor > 1;
    addVision(result, plan, tower, projector, encoder);
    return result;
}

} // namespace headroom
