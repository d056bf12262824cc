// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/source.h"

#include "footprint/torch/modules.h"

namespace headroom {

using enum TensorKind;
using Tensor = ModuleGraph::Tensor;
using Operation = ModuleGraph::Operation;

namespace {

constexpr std::int64_t kernel = 3; // of both convolutions

Tensor convolution(const TorchShape& shape, ModuleGraph& graph, Tensor input, std::int64_t channels, std::int64_t rows)
{
    Operation op{.kind = Fc1Output, .bytes = rows * shape.model.hidden * shape.compute, .reads = {input}};
    op.saves = {shape.trainsModel};
    op.weight = shape.trainsModel ? kernel * channels * shape.model.hidden : 0;
    op.isMatrixProduct = true;
    return graph.apply(std::move(op));
}

/// modeling_whisper.py, WhisperEncoder: two convolutions, the second with a stride of two, each with a GELU.
Tensor sound(const TorchShape& shape, ModuleGraph& graph)
{
    TorchModules modules(shape, graph);
    const std::int64_t frames = 2 * shape.tokens, bins = shape.model.audioBins;
    const Tensor features = graph.apply({.kind = Batch, .bytes = frames * bins * shape.compute, .reads = {}});
    const Tensor first = modules.gelu(convolution(shape, graph, features, bins, frames));
    const Tensor second = modules.gelu(convolution(shape, graph, first, shape.model.hidden, shape.tokens));
    return graph.apply( // with the positions
        {.kind = ResidualStream, .bytes = shape.streamBytes(), .reads = {second}, .passesGradient = true});
}

/// The table is the decoder's too: FSDP's root reduces one gradient of it.
Tensor words(const TorchShape& shape, ModuleGraph& graph)
{
    const bool isReduced = torchGradients(shape).kind == GradientRule::Kind::Reduce;
    Operation lookup{.kind = ResidualStream, .bytes = shape.streamBytes(), .reads = {}};
    lookup.weight
        = shape.trainsEmbeddings && !isReduced ? shape.model.vocab / shape.tableRanks * shape.model.hidden : 0;
    lookup.sharedWeight = shape.model.tied ? tiedWeight : sharedTable;
    const Tensor looked = graph.apply(std::move(lookup));
    if (shape.model.positions == 0) {
        return looked;
    }
    return graph.apply(
        {.kind = ResidualStream, .bytes = shape.streamBytes(), .reads = {looked}, .passesGradient = true});
}

} // namespace

TorchShape torchSourceShape(const TorchShape& decoder)
{
    TorchShape shape = decoder;
    shape.tokens = decoder.memoryTokens;
    shape.keys = decoder.memoryKeys;
    shape.memoryTokens = shape.memoryKeys = 0;
    shape.model.layers = decoder.model.encoderLayers;
    shape.model.kinds.clear(); // a hybrid's are its decoder's
    return shape;
}

TorchWeights sourceWeights(const TorchShape& source)
{
    using enum TorchWeights::Kind;
    const Architecture& model = source.model;
    TorchWeights weights;
    for (const std::int64_t channels : {model.audioBins, model.hidden}) {
        if (model.audioBins > 0) {
            weights.tensors.push_back({Matrix, model.hidden, kernel * channels});
            weights.tensors.push_back({Vector, model.hidden});
        }
    }
    for (int i = 0; model.relativePositions > 0 && i < 2; ++i) { // of the encoder and of the decoder
        weights.tensors.push_back({Table, model.relativePositions, model.heads / source.tensor});
    }
    return weights;
}

TorchWeights sourcePositions(const TorchShape& source)
{
    TorchWeights weights;
    if (source.model.encoderPositions > 0) {
        weights.tensors.push_back({TorchWeights::Kind::Table, source.model.encoderPositions, source.model.hidden});
    }
    return weights;
}

TorchWeights sourceNormWeights(const TorchShape& source)
{
    TorchWeights weights;
    for (int i = 0; i < (source.model.layerNorm ? 2 : 1); ++i) {
        weights.tensors.push_back({TorchWeights::Kind::Vector, source.model.hidden});
    }
    return weights;
}

void writeTorchSource(const TorchShape& source, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(0, false);
    const Tensor stream = source.model.audioBins > 0 ? sound(source, graph) : words(source, graph);
    TorchModules(source, graph).dropped(stream);
    TorchWeights weights = sourceWeights(source);
    const TorchWeights positions = sourcePositions(source);
    weights.tensors.insert(weights.tensors.end(), positions.tensors.begin(), positions.tensors.end());
    writeTorchPiece(source, weights, graph, persistents, piece);
}

void writeTorchSourceNorm(const TorchShape& source, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(source.streamBytes(), true);
    TorchModules modules(source, graph);
    modules.dropped(modules.norm(graph.input(), source.localTokens(), source.model.hidden));
    writeTorchPiece(source, sourceNormWeights(source), graph, persistents, piece);
}

} // namespace headroom
