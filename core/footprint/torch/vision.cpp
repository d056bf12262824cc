// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/vision.h"
#include "footprint/recipe/vision_weights.h"

#include "footprint/tape/vision.h"
#include "footprint/torch/modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;
using Tensor = ModuleGraph::Tensor;
using Operation = ModuleGraph::Operation;

namespace {

constexpr std::int64_t channels = 3;

std::int64_t patchElements(const VisionTower& tower)
{
    return channels * tower.temporalPatch * tower.patch * tower.patch;
}

bool hasNorm(const Projector& projector)
{
    return projector.kind == Projector::Kind::PatchMerger || projector.kind == Projector::Kind::PixelShuffle;
}

std::int64_t imagesOf(const TorchShape& shape, const VisionTower& tower)
{
    return tower.tokens > 0 ? shape.tokens / tower.tokens : 0;
}

/// One layer of cross-attention from learned queries to the patches (Qwen-VL visual.py, Resampler).
TorchWeights resamplerWeights(const Projector& projector)
{
    using enum TorchWeights::Kind;
    const std::int64_t out = projector.out;
    TorchWeights weights;
    weights.tensors = {{Table, projector.tokens, out}, {Matrix, out, projector.in}};
    for (int i = 0; i < 4; ++i) { // q, k, v and the result
        weights.tensors.push_back({Matrix, out, out});
        weights.tensors.push_back({Vector, out});
    }
    weights.tensors.insert(weights.tensors.end(), 2, {Vector, 2 * out});
    return weights;
}

void applyResampler(const TorchShape& shape, const Projector& projector, std::int64_t images, TorchModules& modules,
                    ModuleGraph& graph)
{
    const std::int64_t out = projector.out;
    const std::int64_t rows = images * projector.tokens;
    const Tensor patches = modules.linear(graph.input(), KeyValueProjection, {shape.tokens, projector.in, out});
    const Tensor normed = modules.norm(patches, shape.tokens, out);
    const Tensor key = modules.linear(normed, KeyValueProjection, {shape.tokens, out, out});
    const Tensor value = modules.linear(normed, KeyValueProjection, {shape.tokens, out, out});
    Operation queries{.kind = QueryProjection, .bytes = rows * out * shape.compute, .reads = {}};
    queries.weight = shape.trainsModel ? out * out + projector.tokens * out : 0;
    const Tensor query = graph.apply(std::move(queries));
    Operation attention{.kind = Context, .bytes = rows * out * shape.compute, .reads = {query, key, value}};
    attention.saves = {true, true, true};
    attention.savesResult = true;
    modules.linear(graph.apply(std::move(attention)), PartialOutput, {rows, out, out});
}

void finish(const TorchShape& shape, const TorchWeights& weights, ModuleGraph& graph, PersistentStorages& persistents,
            Piece& piece)
{
    writeTorchPiece(shape, weights, graph, persistents, piece);
    piece.isFrozen = !shape.trainsModel;
}

} // namespace

TorchShape torchVisionShape(const TorchShape& language, const VisionTower& tower, std::int64_t images, bool isTrained)
{
    TorchShape shape = language;
    shape.model = asModel(tower);
    shape.model.qkvBias = tower.qkvBias;
    shape.model.outBias = shape.model.mlpBias = true;
    shape.sequences = images;
    shape.tokens = images * tower.tokens;
    shape.keys = tower.tokens;
    shape.tensor = language.encoderTensor;
    shape.sequenceShards = shape.expertRanks = shape.expertTensor = 1;
    shape.repeatsKv = false;
    shape.hasFusedGate = shape.isCompiled; // Liger patches the tower's norms, not its MLP
    shape.rotates = !tower.learnedPositions;
    shape.hasHiddenDropout = shape.hasAttentionDropout = false;
    shape.trainsModel = isTrained;
    shape.adapters = Adapters{};
    shape.parts = {};
    shape.trained = TrainedParts::all;
    shape.storesSelectively = shape.storesAttention = false;
    shape.rebuilt = 0;
    shape.checkpoints = language.checkpointsVision && isTrained;
    shape.quantises = shape.unpacksWeights = false;
    return shape;
}

TorchWeights patchWeights(const VisionTower& tower)
{
    using enum TorchWeights::Kind;
    TorchWeights weights;
    weights.tensors.push_back({Matrix, tower.hidden, patchElements(tower)});
    if (tower.patchBias) {
        weights.tensors.push_back({Vector, tower.hidden});
    }
    if (tower.learnedPositions) {
        weights.tensors.push_back({Table, tower.positions, tower.hidden});
    }
    if (tower.classToken) {
        weights.tensors.push_back({Vector, tower.hidden});
    }
    for (std::int64_t i = 0; i < tower.extraNorms; ++i) {
        weights.tensors.push_back({Vector, tower.hidden * (tower.layerNorm ? 2 : 1)});
    }
    return weights;
}

TorchWeights projectorWeights(const VisionTower& tower, const Projector& projector)
{
    using enum TorchWeights::Kind;
    if (projector.kind == Projector::Kind::Resampler) {
        return resamplerWeights(projector);
    }
    if (projector.kind == Projector::Kind::Perceiver) {
        return perceiverWeights(projector);
    }
    TorchWeights weights;
    const std::vector<std::int64_t> widths = projectorWidths(projector);
    for (std::int64_t k = 0; k < mergersOf(projector); ++k) {
        if (hasNorm(projector)) {
            const bool isMerged = projector.kind == Projector::Kind::PixelShuffle || k > 0;
            const bool isLayerNorm = projector.kind == Projector::Kind::PixelShuffle || tower.layerNorm;
            weights.tensors.push_back({Vector, (isMerged ? widths[0] : projector.in) * (isLayerNorm ? 2 : 1)});
        }
        for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
            weights.tensors.push_back({Matrix, widths[i + 1], widths[i]});
            weights.tensors.push_back({Vector, widths[i + 1]});
        }
    }
    return weights;
}

void writeTorchPatches(const TorchShape& shape, const VisionTower& tower, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(0, false);
    const std::int64_t rows = shape.tokens;
    const std::int64_t bytes = rows * tower.hidden * shape.compute;
    const Tensor pixels
        = graph.apply({.kind = Batch, .bytes = rows * patchElements(tower) * shape.compute, .reads = {graph.input()}});
    Operation embed{.kind = ResidualStream, .bytes = bytes, .reads = {pixels}};
    embed.saves = {shape.trainsModel};
    embed.weight = shape.trainsModel ? patchWeights(tower).total(TorchWeights::Kind::Matrix) : 0;
    embed.isMatrixProduct = true;
    Tensor stream = graph.apply(std::move(embed));
    if (tower.learnedPositions || tower.classToken) {
        stream = graph.apply({.kind = ResidualStream, .bytes = bytes, .reads = {stream}, .passesGradient = true});
    }
    if (tower.extraNorms > 0) {
        TorchModules(shape, graph).norm(stream, rows, tower.hidden);
    }
    finish(shape, patchWeights(tower), graph, persistents, piece);
}

void writeTorchProjector(const TorchShape& shape, const VisionTower& tower, const Projector& projector,
                         bool trainsEncoder, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.tokens * tower.hidden * shape.compute, trainsEncoder);
    TorchModules modules(shape, graph);
    const std::vector<std::int64_t> widths = projectorWidths(projector);
    const std::int64_t rows = imagesOf(shape, tower) * projector.tokens;
    if (projector.kind == Projector::Kind::Resampler) {
        applyResampler(shape, projector, imagesOf(shape, tower), modules, graph);
        finish(shape, resamplerWeights(projector), graph, persistents, piece);
        return;
    }
    if (projector.kind == Projector::Kind::Perceiver) {
        const TorchShape perceiver = torchPerceiverShape(shape, tower, projector);
        TorchModules(perceiver, graph).perceiver(graph.input(), projector);
        finish(perceiver, perceiverWeights(projector), graph, persistents, piece);
        return;
    }
    std::vector<Tensor> features;
    for (std::int64_t i = mergersOf(projector); i-- > 0;) { // that of the last layer comes last
        const bool isMerged = projector.kind == Projector::Kind::PixelShuffle || i > 0;
        Tensor stream = graph.input();
        if (i > 0 && !trainsEncoder) { // trained blocks keep what an inner merger reads, being the next one's input
            stream = graph.apply({.kind = ResidualStream, .bytes = graph.bytesOf(stream), .reads = {}});
        }
        if (hasNorm(projector)) {
            stream = modules.norm(stream, isMerged ? rows : shape.tokens, isMerged ? widths[0] : tower.hidden);
        }
        for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
            stream
                = modules.linear(k == 0 ? stream : modules.gelu(stream), Fc1Output, {rows, widths[k], widths[k + 1]});
        }
        features.push_back(stream);
    }
    for (std::size_t i = 1; i < features.size(); ++i) { // a tape hands on one storage
        const std::int64_t bytes = graph.bytesOf(features[i - 1]) + graph.bytesOf(features[i]);
        features[i] = graph.apply(
            {.kind = Fc1Output, .bytes = bytes, .reads = {features[i - 1], features[i]}, .passesGradient = true});
    }
    finish(shape, projectorWeights(tower, projector), graph, persistents, piece);
}

std::int64_t torchFeatureBytes(std::int64_t images, const Projector& projector, std::int64_t element)
{
    return images * mergersOf(projector) * projector.tokens * projector.out * element;
}

} // namespace headroom
