// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/parameters.h"

#include "footprint/recipe/part_builder.h"
#include "footprint/recipe/vision_weights.h"

#include <algorithm>

namespace headroom {

namespace {

void addLatentAttention(PartBuilder& part, const Architecture& model)
{
    const Elements queries = Elements(model.heads) * (Elements(model.nopeDim) + model.ropeDim);
    if (model.qLoraRank > 0) {
        part.replicated(model.hidden, model.qLoraRank, Adapters::Query);
        part.vector(model.qLoraRank);
        part.column(model.qLoraRank, queries, Adapters::Query);
    } else {
        part.column(model.hidden, queries, Adapters::Query);
    }
    part.replicated(model.hidden, Elements(model.kvLoraRank) + model.ropeDim, Adapters::Key);
    part.vector(model.kvLoraRank);
    part.column(model.kvLoraRank, Elements(model.heads) * (Elements(model.nopeDim) + model.valueDim), Adapters::Value);
    part.row(Elements(model.heads) * model.valueDim, model.hidden, Adapters::Output);
}

void addAttention(PartBuilder& part, const Architecture& model, const Split& split)
{
    if (model.isMla) {
        addLatentAttention(part, model);
        return;
    }
    const Elements queries = model.heads > 0 ? Elements(model.heads) * model.headDim : Elements(model.hidden);
    // KV groups that cannot be split further are copied to every rank of the tensor-parallel group; as a whole model
    // that reads as one group per rank.
    const std::int64_t groups = model.heads > 0 ? std::max(model.groups, split.tensor) : 1;
    const Elements keys = Elements(groups) * model.headDim;
    const Elements gated = model.attnGate ? Elements(2) * queries : queries;
    const auto own = [&part](Adapters::Target target) { return part.packsQkv() ? Adapters::Other : target; };
    if (part.packsQkv()) {
        part.adapter(model.hidden, gated + keys + keys, Adapters::Query | Adapters::Key | Adapters::Value);
    }
    part.column(model.hidden, gated, own(Adapters::Query));
    part.column(model.hidden, keys, own(Adapters::Key));
    part.column(model.hidden, keys, own(Adapters::Value));
    if (model.qkvBias) {
        part.columnBias(gated);
        part.columnBias(keys);
        part.columnBias(model.audioBins > 0 ? Elements(0) : keys); // Whisper's keys have none
    }
    part.row(queries, model.hidden, Adapters::Output);
    if (model.outBias) {
        part.vector(model.hidden);
    }
    if (model.qkNorm) {
        part.vector(Elements(model.layerNorm ? 4 : 2) * model.headDim);
    }
}

/// Mamba-2 (arXiv:2405.21060, mamba_ssm modules/mamba2.py): z, x, B, C and the time steps from one projection, a
/// convolution over x, B and C, A, D and a bias for every head, a gated norm.
void addStateSpace(PartBuilder& part, const Architecture& model, const Split& split)
{
    LinearMixer mixer = model.mixer;
    mixer.groups = std::max(mixer.groups, split.tensor); // those that cannot be split further are copied, as KV groups
    part.column(model.hidden, Elements(mixer.projected(Mixer::Mamba2)));
    part.columnBias(Elements(mixer.convolved(Mixer::Mamba2)) * (mixer.conv + (mixer.hasConvBias ? 1 : 0)));
    part.columnBias(Elements(3) * mixer.heads);
    part.columnBias(mixer.values());
    part.row(mixer.values(), model.hidden);
}

/// Mamba (arXiv:2312.00752) as Jamba has it, with norms of the time step, B and C (transformers, modeling_jamba.py).
void addFirstMamba(PartBuilder& part, const Architecture& model)
{
    const LinearMixer& mixer = model.mixer;
    const Elements inner = mixer.values();
    part.column(model.hidden, Elements(2) * inner);
    part.columnBias(inner * (mixer.conv + (mixer.hasConvBias ? 1 : 0)));
    part.row(inner, Elements(mixer.timeRank) + 2 * mixer.state);
    part.column(mixer.timeRank, inner);
    part.columnBias(inner * (Elements(mixer.state) + 2));
    part.vector(Elements(mixer.timeRank) + 2 * mixer.state);
    part.row(inner, model.hidden);
}

/// Gated delta net (arXiv:2412.06464; transformers, modeling_qwen3_next.py): q, k, v and a gate, two values for each
/// head, a convolution over q, k and v, A and a bias for every head, a norm over a head.
void addDeltaNet(PartBuilder& part, const Architecture& model)
{
    const LinearMixer& mixer = model.mixer;
    part.column(model.hidden, mixer.projected(Mixer::DeltaNet));
    part.columnBias(Elements(mixer.convolved(Mixer::DeltaNet)) * (mixer.conv + (mixer.hasConvBias ? 1 : 0)));
    part.columnBias(Elements(2) * mixer.heads);
    part.vector(mixer.headDim);
    part.row(mixer.values(), model.hidden);
}

void addMixer(PartBuilder& part, const Architecture& model, const Split& split, Mixer mixer)
{
    switch (mixer) {
    case Mixer::None:
        break;
    case Mixer::Attention:
        addAttention(part, model, split);
        break;
    case Mixer::Mamba2:
        addStateSpace(part, model, split);
        break;
    case Mixer::Mamba:
        addFirstMamba(part, model);
        break;
    case Mixer::DeltaNet:
        addDeltaNet(part, model);
        break;
    }
}

/// The dense part of a layer: all of it, or everything but the routed experts.
Weights layerWeights(const Architecture& model, const Split& split, const Adapters& adapters, LayerKind kind,
                     bool attendsAcross = false)
{
    PartBuilder part(split.tensor, adapters);
    addMixer(part, model, split, kind.mixer);
    if (attendsAcross) {
        addAttention(part, model, split);
        part.vector(model.norm());
    }
    if (kind.feedForward == FeedForward::Experts) {
        part.replicated(model.hidden, model.experts);
        if (model.sharedGate) {
            part.replicated(model.hidden, 1);
        }
        if (model.sharedFfn > 0) {
            part.mlp(model.hidden, model.sharedFfn, model.gate, false);
        }
        if (model.latent > 0) {
            part.replicated(model.hidden, model.latent);
            part.replicated(model.latent, model.hidden);
        }
    } else if (kind.feedForward == FeedForward::Mlp) {
        part.mlp(model.hidden, model.ffn, model.gate, model.mlpBias);
    }
    if (!model.isTextbook) {
        part.vector(Elements(kind.halves() == 2 ? model.blockNorms : 1) * model.norm());
    }
    return part.weights();
}

/// Of an encoder-decoder model, what stands in front of its decoder: layers, their norm, and what makes their input
/// (transformers modeling_t5.py, modeling_whisper.py). Relative positions of both halves are here.
Weights encoderWeights(const Architecture& model, const Split& split, const Adapters& adapters)
{
    PartBuilder part(split.tensor, adapters);
    part.add(layerWeights(model, split, adapters, {}).times(model.encoderLayers));
    part.vector(model.norm());
    if (model.encoderPositions > 0) {
        part.table(model.encoderPositions, model.hidden);
    }
    if (model.relativePositions > 0) {
        part.table(Elements(2) * model.relativePositions, Elements(model.heads) / split.tensor);
    }
    if (model.audioBins > 0) {
        constexpr std::int64_t kernel = 3;
        for (const std::int64_t channels : {model.audioBins, model.hidden}) {
            part.replicated(Elements(kernel) * channels, model.hidden);
            part.vector(model.hidden);
        }
    }
    return part.weights();
}

/// The routed experts of one layer on one rank: E/ep of them, each split over its own tensor parallelism.
Weights expertWeights(const Architecture& model, const Split& split, const Adapters& adapters)
{
    PartBuilder expert(split.expertTensor, adapters);
    expert.mlp(model.latent > 0 ? model.latent : model.hidden, model.expertFfn, model.gate, model.mlpBias);
    return expert.weights().times((Elements(model.experts) / split.expert).value());
}

bool predictorHasExperts(const Architecture& model)
{
    if (model.predictorKinds.empty()) {
        return model.moeLayers(model.layers - 1, 1) > 0;
    }
    return std::any_of(model.predictorKinds.begin(), model.predictorKinds.end(),
                       [](LayerKind kind) { return kind.feedForward == FeedForward::Experts; });
}

/// Multi-token prediction: a layer, the projection that joins two states, three norms, for each depth (theory.md 1.4).
Weights predictorWeights(const Architecture& model, const Split& split, const Weights& layer)
{
    PartBuilder part(split.tensor);
    part.add(layer);
    part.column(Elements(2) * model.hidden, model.hidden);
    part.vector(Elements(3) * model.norm());
    return part.weights();
}

} // namespace

Weights& Weights::operator+=(const Weights& other)
{
    matrices += other.matrices;
    tables += other.tables;
    vectors += other.vectors;
    factors += other.factors;
    adapters += other.adapters;
    return *this;
}

Weights Weights::times(std::int64_t count) const
{
    return {matrices * count, tables * count, vectors * count, factors * count, adapters * count};
}

const Weights* ModelWeights::ofKind(LayerKind kind) const
{
    const auto found = std::find_if(kinds.begin(), kinds.end(), [kind](const auto& one) { return one.first == kind; });
    return found == kinds.end() ? nullptr : &found->second;
}

Weights ModelWeights::vision() const
{
    Weights all = visionLayer.times(visionLayers);
    all += visionStem;
    return all;
}

ModelWeights weightsPerGpu(const Architecture& model, const VisionTower& vision, const Projector& projector,
                           const Split& split, const Adapters& adapters)
{
    return weightsPerGpu(model, vision, projector, split, split.tensor, adapters);
}

ModelWeights weightsPerGpu(const Architecture& model, const VisionTower& vision, const Projector& projector,
                           const Split& split, std::int64_t encoderTensor, const Adapters& adapters)
{
    ModelWeights result;
    result.denseLayer = layerWeights(model, split, adapters, {}, model.hasEncoder());
    for (const LayerKind kind : model.kinds) {
        if (result.ofKind(kind) == nullptr) {
            result.kinds.push_back({kind, layerWeights(model, split, adapters, kind, model.hasEncoder())});
        }
    }
    if (model.isMoe()) {
        result.moeLayer
            = layerWeights(model, split, adapters, {Mixer::Attention, FeedForward::Experts}, model.hasEncoder());
        result.layerExperts = expertWeights(model, split, adapters);
    }
    PartBuilder table(split.tensor);
    table.table(Elements(model.vocab) / split.tensor, model.hidden);
    if (split.vocabulary > 1) {
        PartBuilder share(split.tensor);
        for (int i = 0; i < (model.tied ? 1 : 2); ++i) {
            share.table(Elements(model.vocab) / split.tensor / split.vocabulary, model.hidden);
        }
        result.everyStage = share.weights();
        table = PartBuilder(split.tensor);
    }
    PartBuilder embedding(split.tensor);
    embedding.add(table.weights());
    if (model.positions > 0) {
        embedding.table(model.positions, model.hidden);
    }
    if (model.hasEncoder()) {
        embedding.add(encoderWeights(model, split, adapters));
    }
    result.embedding = embedding.weights();
    PartBuilder head(split.tensor);
    if (model.labels > 0) {
        head.table(model.labels, model.hidden); // every rank holds a classifier whole
    } else if (!model.tied) {
        head.add(table.weights());
    }
    if (model.headBias) {
        head.columnBias(model.vocab);
    }
    if (!model.isTextbook) {
        head.vector(model.norm());
    }
    result.head = head.weights();
    result.tiedHead = model.tied ? table.weights() : Weights{};
    result.predictors = model.repeatsPredictor ? std::min<std::int64_t>(model.mtpLayers, 1) : model.mtpLayers;
    if (model.mtpLayers > 0) {
        result.predictorHasExperts = predictorHasExperts(model);
        Weights layer = result.predictorHasExperts ? result.moeLayer : result.denseLayer;
        if (!model.predictorKinds.empty()) {
            layer = {};
            for (const LayerKind kind : model.predictorKinds) {
                layer += layerWeights(model, split, adapters, kind);
            }
        }
        result.predictor = predictorWeights(model, split, layer);
        result.predictorEmbedding = model.tied ? Weights{} : table.weights();
    }
    if (vision.isPresent()) {
        result.visionLayer = visionLayerWeights(vision, encoderTensor);
        result.visionStem = visionStemWeights(vision, encoderTensor);
        result.visionLayers = vision.layers;
    }
    result.projector = projectorWeights(projector, vision);
    return result;
}

StageWeights stageWeights(const ModelWeights& weights, const Architecture& model, const StageLayers& layers,
                          std::int64_t pipeline)
{
    StageWeights result;
    std::int64_t moe = model.moeLayers(layers.ranges[0].first, layers.ranges[0].count)
        + model.moeLayers(layers.ranges[1].first, layers.ranges[1].count);
    if (model.isHybrid()) {
        for (const StageLayers::Range& range : layers.ranges) {
            for (const auto& [kind, count] : model.countKinds(range.first, range.count)) {
                const Weights* each = weights.ofKind(kind);
                result.language += each != nullptr ? each->times(count) : Weights{};
            }
        }
    } else {
        result.language += weights.denseLayer.times(layers.count() - moe);
        result.language += weights.moeLayer.times(moe);
    }
    result.language += weights.everyStage;
    if (layers.holdsEmbedding) {
        result.language += weights.embedding;
    }
    const EncoderPart& encoder = layers.encoder;
    result.vision = weights.visionLayer.times((Elements(weights.visionLayers) * encoder.layers / encoder.of).value());
    if (encoder.holdsStem) {
        result.vision += weights.visionStem;
    }
    if (encoder.holdsProjector) {
        result.projector = weights.projector;
    }
    if (layers.holdsHead) {
        result.language += weights.head;
        result.language += weights.predictor.times(weights.predictors);
        moe += weights.predictorHasExperts ? weights.predictors : 0;
        // Copies of the embedding matrix are only needed where the matrix itself is not.
        if (pipeline > 1 && !layers.holdsEmbedding) {
            result.language += weights.tiedHead;
            result.language += weights.predictorEmbedding;
        }
    }
    result.experts = weights.layerExperts.times(moe);
    return result;
}

std::int64_t modelParameters(const Architecture& model, const VisionTower& vision, const Projector& projector)
{
    const ModelWeights weights = weightsPerGpu(model, vision, projector, Split{});
    const StageLayers all{{{{0, model.layers}, {}}}, true, true, EncoderPart::whole()};
    return stageWeights(weights, model, all, 1).total().value();
}

} // namespace headroom
