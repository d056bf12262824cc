// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch_modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

Tensor TorchModules::block(Tensor stream, bool hasExperts)
{
    const Tensor normed = norm(stream, c.localTokens(), a.hidden);
    const Tensor afterAttention = add(stream, a.isMla ? latentAttention(normed) : attention(normed));
    const Tensor input = gather(norm(afterAttention, c.localTokens(), a.hidden));
    const Linear in{c.tokens, a.hidden, a.ffn / c.tensor, Adapters::MlpIn};
    return add(afterAttention, scatter(hasExperts ? experts(input) : mlp(input, a.hidden, in, true)));
}

Tensor TorchModules::norm(Tensor input, std::int64_t rows, std::int64_t width)
{
    const std::int64_t elements = rows * width;
    Operation op{.kind = NormOutput, .bytes = elements * c.compute, .reads = {input}};
    if (a.layerNorm || c.hasFusedNorm) {
        op.saves = {true};
        op.keeps = {{NormStatistics, rows * (a.layerNorm ? 8 : 4)}};
    } else {
        op.keeps = {{NormCopy, elements * 4}, {NormStatistics, rows * 4}};
        if (c.trainsModel) {
            op.keeps.push_back({NormOutput, elements * c.compute});
        }
        op.forwardWork = 4 * elements;
        op.backwardWork = 4 * elements;
    }
    op.weight = c.trainsModel ? width * (a.layerNorm ? 2 : 1) : 0;
    return graph.apply(std::move(op));
}

Tensor TorchModules::add(Tensor x, Tensor y)
{
    return graph.apply({.kind = ResidualStream,
                        .bytes = std::max(graph.bytesOf(x), graph.bytesOf(y)),
                        .reads = {x, y},
                        .passesGradient = true});
}

Tensor TorchModules::gelu(Tensor input)
{
    return graph.apply({.kind = ActivationOutput, .bytes = graph.bytesOf(input), .reads = {input}, .saves = {true}});
}

/// A GEMM keeps its input only for the gradient of its weight.
Tensor TorchModules::product(Tensor input, TensorKind kind, const Linear& layer, bool trains)
{
    const std::int64_t weight = layer.in * layer.out * layer.count;
    Operation op{.kind = kind, .bytes = layer.rows * layer.out * c.compute, .reads = {input}};
    op.saves = {trains || (c.quantises && c.habits.savesQuantisedInputs)};
    op.weight = trains ? weight : 0;
    op.weightShards = layer.shards;
    op.isMatrixProduct = true;
    if (c.castsWeights) {
        op.keeps = {{WeightCopies, weight * c.compute}}; // the autocast cache
    } else if (c.quantises && !trains) {
        op.forwardWork = op.backwardWork = layer.in * layer.out * c.compute; // the dequantised weight
    }
    return graph.apply(std::move(op));
}

/// With an adapter: the input once more in its type, dropped out, through rank r and back, and added.
Tensor TorchModules::linear(Tensor input, TensorKind kind, const Linear& layer)
{
    const Tensor base = product(input, kind, layer, c.trainsModel);
    const bool isPacked = c.adaptsPackedQkv && (layer.target == Adapters::Key || layer.target == Adapters::Value);
    if (!c.hasAdapter(layer.target) || isPacked) {
        return base; // the packed adapter is written where the query is
    }
    const std::int64_t element = c.adapterCompute;
    const std::int64_t rank = c.adapters.rank;
    Tensor x = input;
    if (element != c.compute) {
        x = graph.apply({.kind = AdapterActivations, .bytes = layer.rows * layer.in * element, .reads = {x}});
    }
    if (c.hasAdapterDropout) {
        x = graph.apply({.kind = AdapterActivations,
                         .bytes = layer.rows * layer.in * element,
                         .reads = {x},
                         .keeps = {{DropoutMask, layer.rows * layer.in}}});
    }
    const auto half = [&](Tensor from, std::int64_t width, std::int64_t weight) {
        Operation op{.kind = AdapterActivations, .bytes = layer.rows * width * element, .reads = {from}};
        op.saves = {true};
        op.weight = weight * layer.count;
        op.weightElement = element;
        op.weightShards = layer.shards;
        op.isMatrixProduct = true;
        return graph.apply(std::move(op));
    };
    const Tensor low = half(x, rank, layer.in * rank);
    const Tensor high = half(low, layer.out, rank * layer.out);
    return graph.apply(
        {.kind = kind, .bytes = layer.rows * layer.out * c.compute, .reads = {base, high}, .passesGradient = true});
}

/// Sequence parallelism: a column-parallel layer reads, and keeps, all tokens of the group.
Tensor TorchModules::gather(Tensor input)
{
    return c.sequenceShards == 1
        ? input
        : graph.apply({.kind = GatheredInput, .bytes = graph.bytesOf(input) * c.sequenceShards, .reads = {input}});
}

Tensor TorchModules::scatter(Tensor full)
{
    return c.sequenceShards == 1
        ? full
        : graph.apply({.kind = PartialOutput, .bytes = graph.bytesOf(full) / c.sequenceShards, .reads = {full}});
}

/// New q and k; cos and sin are constants, so nothing is kept.
Tensor TorchModules::rotated(Tensor input)
{
    if (!c.rotates) {
        return input;
    }
    const std::int64_t bytes = graph.bytesOf(input);
    return graph.apply(
        {.kind = RotatedQk, .bytes = bytes, .reads = {input}, .forwardWork = bytes, .backwardWork = bytes});
}

Tensor TorchModules::perHeadNorm(Tensor input, std::int64_t heads)
{
    return a.qkNorm ? norm(input, c.tokens * heads, a.headDim) : input;
}

Tensor TorchModules::repeated(Tensor input)
{
    return !c.repeatsKv || a.groups == a.heads
        ? input
        : graph.apply({.kind = RepeatedKv, .bytes = graph.bytesOf(input) / a.groups * a.heads, .reads = {input}});
}

Tensor TorchModules::attention(Tensor normed)
{
    const std::int64_t heads = std::max<std::int64_t>(a.heads / c.tensor, 1);
    const std::int64_t groups = std::max<std::int64_t>(a.groups / c.tensor, 1);
    const std::int64_t width = heads * a.headDim;
    const std::int64_t keyWidth = groups * a.headDim;
    const Tensor input = gather(normed);
    if (c.habits.packsQkv) {
        const Tensor packed = linear(input, Qkv, {c.tokens, a.hidden, width + 2 * keyWidth, Adapters::Query});
        const auto turned = [&](std::int64_t columns) {
            return graph.apply({.kind = RotatedQk, .bytes = c.tokens * columns * c.compute, .reads = {packed}});
        };
        const Tensor context = attend(turned(width), repeated(turned(keyWidth)), packed, heads, width);
        return scatter(linear(context, PartialOutput, {c.tokens, width, a.hidden, Adapters::Output}));
    }
    Tensor query = linear(input, QueryProjection, {c.tokens, a.hidden, width, Adapters::Query});
    storeProduct(query, true);
    Tensor key = linear(input, KeyValueProjection, {c.tokens, a.hidden, keyWidth, Adapters::Key});
    Tensor value = linear(input, KeyValueProjection, {c.tokens, a.hidden, keyWidth, Adapters::Value});
    storeProduct(value, true);
    query = rotated(perHeadNorm(query, heads));
    key = repeated(rotated(perHeadNorm(key, groups)));
    value = repeated(value);
    const Tensor context = attend(query, key, value, heads, width);
    return scatter(linear(context, PartialOutput, {c.tokens, width, a.hidden, Adapters::Output}));
}

/// `width`: of the result, heads times the size of a value.
Tensor TorchModules::attend(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    return c.hasExplicitScores ? scores(query, key, value, heads, width) : fused(query, key, value, heads, width);
}

/// Flash attention: backward sums the query's gradient in fp32 and expands those of grouped keys and values
/// (theory.md 5.3).
Tensor TorchModules::fused(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    const std::int64_t queries = graph.bytesOf(query) / c.compute;
    const bool isGrouped = graph.bytesOf(key) < graph.bytesOf(query);
    Operation op{.kind = Context, .bytes = c.tokens * width * c.compute, .reads = {query, key, value}};
    op.saves = {true, true, true};
    op.savesResult = true;
    op.keeps = {{SoftmaxStatistics, c.tokens * heads * 4}};
    op.backwardWork = queries * 4 + c.tokens * heads * 4 + (isGrouped ? 2 * queries * c.compute : 0);
    const Tensor context = graph.apply(std::move(op));
    if (c.storesSelectively) {
        graph.store(context);
    }
    return context;
}

/// theory.md 3.6: an fp32 softmax and its cast are kept, 6 bytes a score.
Tensor TorchModules::scores(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    const std::int64_t count = c.tokens * heads * c.keys;
    const Tensor raw = graph.apply({.kind = AttentionScores,
                                    .bytes = count * c.compute,
                                    .reads = {query, key},
                                    .saves = {true, true},
                                    .isMatrixProduct = true});
    const Tensor masked = graph.apply({.kind = AttentionScores,
                                       .bytes = count * c.compute,
                                       .reads = {raw},
                                       .passesGradient = true,
                                       .forwardWork = count * c.compute});
    const Tensor softmax
        = graph.apply({.kind = AttentionSoftmax, .bytes = count * 4, .reads = {masked}, .savesResult = true});
    const Tensor probabilities = c.compute == 4
        ? softmax
        : graph.apply({.kind = AttentionProbabilities, .bytes = count * c.compute, .reads = {softmax}});
    const Tensor result = graph.apply({.kind = Context,
                                       .bytes = c.tokens * width * c.compute,
                                       .reads = {probabilities, value},
                                       .saves = {true, true},
                                       .isMatrixProduct = true});
    // Heads move behind tokens for the output projection.
    return graph.apply(
        {.kind = ContextCopy, .bytes = graph.bytesOf(result), .reads = {result}, .passesGradient = true});
}

/// `in`: the first linear layer; the last one leads to `width`. `isWhole`: it is the block's own, not an expert's.
Tensor TorchModules::mlp(Tensor input, std::int64_t width, const Linear& in, bool isWhole)
{
    const Tensor gate = linear(input, Fc1Output, in);
    storeProduct(gate, isWhole);
    const std::int64_t bytes = graph.bytesOf(gate);
    Tensor activated = ModuleGraph::none;
    if (a.gate == 1) {
        activated = gelu(gate);
    } else {
        const Tensor up = linear(input, Fc1Output, in);
        activated = c.hasFusedGate
            ? graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {gate, up}, .saves = {true, true}})
            : pythonGate(gate, up, bytes);
    }
    const Linear last{in.rows, in.out, width, Adapters::MlpOut, in.count, in.shards};
    const Tensor output = linear(activated, isWhole ? PartialOutput : SortedTokens, last);
    storeProduct(output, isWhole && c.habits.cachesDeadResults && !c.isCompiled);
    return output;
}

Tensor TorchModules::pythonGate(Tensor gate, Tensor up, std::int64_t bytes)
{
    const Tensor silu = graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .saves = {true}});
    return graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {silu, up}, .saves = {true, true}});
}

void TorchModules::storeProduct(Tensor tensor, bool isStored)
{
    if (c.storesSelectively && isStored) {
        graph.store(tensor);
    }
}

void writeTorchBlock(const TorchShape& shape, bool hasExperts, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.streamBytes(), true);
    TorchModules(shape, graph).block(graph.input(), hasExperts);
    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.cublasWorkspace = shape.cublasWorkspace;
    options.keepsInput = shape.checkpoints;
    options.prefetches = true;
    options.keepsGathered = shape.gathers() && !shape.reshards;
    const TorchWeights weights = blockWeights(shape, hasExperts);
    setTorchGathered(shape, weights, options);
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
}

} // namespace headroom
