// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/activations.h"

#include "plan/batch.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

using enum Kept;

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

/// Frozen weights need no inputs for a weight gradient; the rest must stay for the gradient that passes through
/// (theory.md 3.7).
void dropForFrozenWeights(LayerTensors& layer)
{
    layer.drop({AttentionNorm, MlpNorm, Activated, ExpertInput, ExpertActivated, SharedActivated});
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

/// What the layers of a plan's language model keep, over any split.
class KeptLayers
{
public:
    KeptLayers(const TrainingPlan& plan, const Architecture& model, const Recompute& recompute)
        : m_plan(plan)
        , m_model(model)
        , m_recompute(recompute)
        , m_flow(languageFlow(trainableOf(plan)))
        , m_scores(scoreBytes(plan))
        , m_sequence(real(layerSequence(plan)))
        , m_memory(model.hasEncoder() ? real(plan.batch.seq.value) : 0)
        , m_capacity(std::max(plan.moe.capacityFactor.valueOr(1.0), 0.0))
    {
    }

    /// Tokens of a sample in the encoder of an encoder-decoder model.
    [[nodiscard]] double memory() const { return m_memory; }

    [[nodiscard]] LayerBytes dense(const Split& split) const
    {
        LayerTensors layer = denseLayer(m_model, split, m_scores, m_sequence);
        addMemory(split, layer);
        return bytesOf(layer);
    }
    [[nodiscard]] LayerBytes expert(const Split& split) const
    {
        LayerTensors layer = expertLayer(m_model, split, m_scores, m_sequence, m_capacity);
        return bytesOf(layer);
    }
    [[nodiscard]] LayerBytes ofKind(LayerKind kind, const Split& split) const
    {
        LayerTensors layer = kind.feedForward == FeedForward::Experts
            ? expertLayer(m_model, split, m_scores, m_sequence, m_capacity)
            : denseLayer(m_model, split, m_scores, m_sequence);
        keepKind(kind, m_model, split, layer);
        addMemory(split, layer);
        return bytesOf(layer);
    }
    [[nodiscard]] LayerBytes ofEncoder(const Split& split) const
    {
        LayerTensors layer = denseLayer(m_model, split, m_scores, m_memory);
        return bytesOf(layer);
    }
    /// Of all of them.
    [[nodiscard]] LayerBytes average(const Split& split) const;

private:
    [[nodiscard]] LayerBytes bytesOf(LayerTensors& layer) const;
    void addMemory(const Split& split, LayerTensors& layer) const
    {
        if (m_memory > 0 && m_sequence > 0) {
            addCrossAttention(m_model, split, m_scores, {m_memory, m_sequence}, layer);
        }
    }

    const TrainingPlan& m_plan;
    const Architecture& m_model;
    const Recompute& m_recompute;
    const Flow m_flow;
    const double m_scores, m_sequence, m_memory, m_capacity;
};

LayerBytes KeptLayers::bytesOf(LayerTensors& layer) const
{
    if (m_flow == Flow::None) {
        return {};
    }
    if (m_flow == Flow::Through) {
        dropForFrozenWeights(layer);
    }
    const double whole = layer.total();
    LayerBytes result{whole, whole, offloadedPerToken(layer, m_plan)};
    if (m_recompute.kind != Recompute::Kind::Modules) {
        return result;
    }
    dropRebuilt(m_plan.recompute, m_model.isMla, layer);
    result.kept = layer.total();
    result.offloaded = offloadedPerToken(layer, m_plan);
    return result;
}

LayerBytes KeptLayers::average(const Split& split) const
{
    const double layers = std::max(real(m_model.layers), 1.0);
    if (m_model.isHybrid()) {
        LayerBytes sum;
        for (const auto& [kind, count] : m_model.countKinds(0, m_model.layers)) {
            sum.add(ofKind(kind, split), real(count) / layers);
        }
        return sum;
    }
    LayerBytes result = dense(split);
    if (m_model.isMoe()) {
        const double experts = real(m_model.moeLayers(0, m_model.layers)) / layers;
        result *= 1 - experts;
        result.add(expert(split), experts);
    }
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
    return model.k + (input - model.k) * model.recompute.blockLayers(perStage, 1) / perStage;
}

/// The layers over the plan's split, in proportion to the k of a whole one.
void addLayers(const KeptLayers& layers, const Architecture& model, const Split& split, double scale,
               ActivationModel& result)
{
    result.dense = layers.dense(split);
    result.dense *= scale;
    if (model.isHybrid()) {
        for (const auto& [kind, count] : model.countKinds(0, model.layers)) {
            result.kinds.emplace_back(kind, layers.ofKind(kind, split)).second *= scale;
        }
    } else if (model.isMoe()) {
        result.expert = layers.expert(split);
        result.expert *= scale;
    }
}

/// `tokens` of the encoder, whose layers keep `layer` a token. Its last norm's input and result serve all layers of the
/// decoder; of sound, the spectrogram and both sides of two activations, the first at twice the rate (transformers
/// modeling_whisper.py, WhisperEncoder).
void addEncoder(const Architecture& model, const Split& split, double tokens, double scale, LayerBytes layer,
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

} // namespace

LayerBytes& LayerBytes::operator*=(double scale)
{
    whole *= scale;
    kept *= scale;
    offloaded *= scale;
    return *this;
}

void LayerBytes::add(const LayerBytes& other, double share)
{
    whole += share * other.whole;
    kept += share * other.kept;
    offloaded += share * other.offloaded;
}

ActivationModel activationModel(const TrainingPlan& plan, const Architecture& model, const VisionTower& tower,
                                const Projector& projector, const Split& split, const Calibration& calibration)
{
    ActivationModel result;
    const double samples = real(batchEquation(plan).micro.value_or(1)) * real(sequencesPerSample(plan));
    const double tokens = plan.batch.tokensPerMicrobatch.isKnown() ? real(plan.batch.tokensPerMicrobatch.value)
                                                                   : samples * real(layerSequence(plan));
    result.tokens = std::max(tokens, 0.0) / real(split.context);
    result.recompute = recomputeOf(plan);
    result.offload = activationOffload(plan);

    const KeptLayers layers(plan, model, result.recompute);
    const LayerBytes alone = layers.average(Split{});
    const double unit = bytesPerValue * std::max(real(model.hidden), 1.0);
    result.theoryK = alone.whole / unit;
    result.k = calibration.k.value_or(result.theoryK);
    const double scale = result.theoryK > 0 ? result.k / result.theoryK : 0;
    addLayers(layers, model, split, scale, result);
    const bool isShared = plan.recompute.distribute.value && !split.sequence;
    result.input = std::min(unit, unit * result.k) / real(isShared ? split.tensor : split.outside());
    const double chunksCounted = result.recompute.perChunk ? real(split.chunks) : 1.0;
    result.effectiveK
        = effectiveK(result, scale * alone.kept / unit, real(model.layers), real(split.pipeline) * chunksCounted);
    if (model.hasEncoder()) {
        const double memory = samples * layers.memory() / real(split.context);
        addEncoder(model, split, memory, scale, layers.ofEncoder(split), result);
    }
    Split encoder = split;
    encoder.tensor = encoderTensorParallel(plan);
    encoder.sequence = split.sequence && encoder.tensor > 1;
    addVision(result, plan, tower, projector, encoder);
    return result;
}

} // namespace headroom
