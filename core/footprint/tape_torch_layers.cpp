// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch_modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

using Tensor = ModuleGraph::Tensor;
using Operation = ModuleGraph::Operation;

/// The modules of a decoder, written as their forward functions are.
class TorchModules
{
public:
    TorchModules(const TorchShape& shape, ModuleGraph& moduleGraph)
        : c(shape)
        , a(shape.model)
        , graph(moduleGraph)
    {
    }

    Tensor block(Tensor stream)
    {
        const Tensor afterAttention = add(stream, attention(norm(stream, c.localTokens(), a.hidden)));
        return add(afterAttention, mlp(norm(afterAttention, c.localTokens(), a.hidden)));
    }

    Tensor norm(Tensor input, std::int64_t rows, std::int64_t width) { return torchNorm(c, graph, input, rows, width); }

    Tensor add(Tensor x, Tensor y)
    {
        return graph.apply({.kind = ResidualStream,
                            .bytes = std::max(graph.bytesOf(x), graph.bytesOf(y)),
                            .reads = {x, y},
                            .passesGradient = true});
    }

private:
    /// A GEMM keeps its input only for the gradient of its weight.
    Tensor product(Tensor input, TensorKind kind, std::int64_t rows, std::int64_t in, std::int64_t out, bool trains)
    {
        Operation op{.kind = kind, .bytes = rows * out * c.compute, .reads = {input}};
        op.saves = {trains};
        op.weight = trains ? in * out : 0;
        op.isMatrixProduct = true;
        if (c.castsWeights) {
            op.keeps = {{WeightCopies, in * out * c.compute}}; // the autocast cache
        } else if (c.quantises && !trains) {
            op.forwardWork = op.backwardWork = in * out * c.compute; // the dequantised weight
        }
        return graph.apply(std::move(op));
    }

    /// With an adapter: the input once more in its type, dropped out, through rank r and back, and added.
    Tensor linear(Tensor input, TensorKind kind, std::int64_t rows, std::int64_t in, std::int64_t out,
                  Adapters::Target target)
    {
        const Tensor base = product(input, kind, rows, in, out, c.trainsModel);
        const bool isPacked = c.adaptsPackedQkv && (target == Adapters::Key || target == Adapters::Value);
        if (!c.hasAdapter(target) || isPacked) {
            return base; // the packed adapter is written where the query is
        }
        const std::int64_t element = c.adapterElement;
        const std::int64_t rank = c.adapters.rank;
        Tensor x = input;
        if (element != c.compute) {
            x = graph.apply({.kind = AdapterActivations, .bytes = rows * in * element, .reads = {x}});
        }
        if (c.hasAdapterDropout) {
            x = graph.apply({.kind = AdapterActivations,
                             .bytes = rows * in * element,
                             .reads = {x},
                             .keeps = {{DropoutMask, rows * in}}});
        }
        const auto half = [&](Tensor from, std::int64_t width, std::int64_t weight) {
            Operation op{.kind = AdapterActivations, .bytes = rows * width * element, .reads = {from}};
            op.saves = {true};
            op.weight = weight;
            op.weightElement = element;
            op.isMatrixProduct = true;
            return graph.apply(std::move(op));
        };
        const Tensor low = half(x, rank, in * rank);
        const Tensor high = half(low, out, rank * out);
        return graph.apply(
            {.kind = kind, .bytes = rows * out * c.compute, .reads = {base, high}, .passesGradient = true});
    }

    /// Sequence parallelism: a column-parallel layer reads, and keeps, all tokens of the group.
    Tensor gather(Tensor input)
    {
        return c.sequenceShards == 1
            ? input
            : graph.apply({.kind = GatheredInput, .bytes = graph.bytesOf(input) * c.sequenceShards, .reads = {input}});
    }

    Tensor scatter(Tensor full)
    {
        return c.sequenceShards == 1
            ? full
            : graph.apply({.kind = PartialOutput, .bytes = graph.bytesOf(full) / c.sequenceShards, .reads = {full}});
    }

    /// New q and k; cos and sin are constants, so nothing is kept.
    Tensor rotated(Tensor input)
    {
        const std::int64_t bytes = graph.bytesOf(input);
        return graph.apply(
            {.kind = RotatedQk, .bytes = bytes, .reads = {input}, .forwardWork = bytes, .backwardWork = bytes});
    }

    Tensor perHeadNorm(Tensor input, std::int64_t heads)
    {
        return a.qkNorm ? norm(input, c.tokens * heads, a.headDim) : input;
    }

    Tensor repeated(Tensor input)
    {
        return !c.repeatsKv || a.groups == a.heads
            ? input
            : graph.apply({.kind = RepeatedKv, .bytes = graph.bytesOf(input) / a.groups * a.heads, .reads = {input}});
    }

    Tensor attention(Tensor normed)
    {
        const std::int64_t heads = a.heads / c.tensor;
        const std::int64_t groups = std::max<std::int64_t>(a.groups / c.tensor, 1);
        const std::int64_t width = heads * a.headDim;
        const std::int64_t keyWidth = groups * a.headDim;
        const Tensor input = gather(normed);
        Tensor query = linear(input, QueryProjection, c.tokens, a.hidden, width, Adapters::Query);
        storeProduct(query, true);
        Tensor key = linear(input, KeyValueProjection, c.tokens, a.hidden, keyWidth, Adapters::Key);
        Tensor value = linear(input, KeyValueProjection, c.tokens, a.hidden, keyWidth, Adapters::Value);
        storeProduct(value, true);
        query = rotated(perHeadNorm(query, heads));
        key = repeated(rotated(perHeadNorm(key, groups)));
        value = repeated(value);
        const Tensor context
            = c.habits.hasExplicitScores ? scores(query, key, value, heads) : fused(query, key, value, heads);
        return scatter(linear(context, PartialOutput, c.tokens, width, a.hidden, Adapters::Output));
    }

    /// Flash attention: backward sums the query's gradient in fp32 and expands those of grouped keys and values
    /// (theory.md 5.3).
    Tensor fused(Tensor query, Tensor key, Tensor value, std::int64_t heads)
    {
        const std::int64_t queries = c.tokens * heads * a.headDim;
        const bool isGrouped = graph.bytesOf(key) < graph.bytesOf(query);
        Operation op{.kind = Context, .bytes = queries * c.compute, .reads = {query, key, value}};
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
    Tensor scores(Tensor query, Tensor key, Tensor value, std::int64_t heads)
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
                                           .bytes = c.tokens * heads * a.headDim * c.compute,
                                           .reads = {probabilities, value},
                                           .saves = {true, true},
                                           .isMatrixProduct = true});
        // Heads move behind tokens for the output projection.
        return graph.apply(
            {.kind = ContextCopy, .bytes = graph.bytesOf(result), .reads = {result}, .passesGradient = true});
    }

    Tensor mlp(Tensor normed)
    {
        const std::int64_t width = a.ffn / c.tensor;
        const Tensor input = gather(normed);
        const Tensor gate = linear(input, Fc1Output, c.tokens, a.hidden, width, Adapters::MlpIn);
        storeProduct(gate, true);
        const std::int64_t bytes = graph.bytesOf(gate);
        Tensor activated = ModuleGraph::none;
        if (a.gate == 1) {
            activated = graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {gate}, .saves = {true}});
        } else {
            const Tensor up = linear(input, Fc1Output, c.tokens, a.hidden, width, Adapters::MlpIn);
            activated = c.hasFusedGate
                ? graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {gate, up}, .saves = {true, true}})
                : pythonGate(gate, up, bytes);
        }
        const Tensor output = linear(activated, PartialOutput, c.tokens, width, a.hidden, Adapters::MlpOut);
        storeProduct(output, c.habits.cachesDeadResults && !c.isCompiled);
        return scatter(output);
    }

    Tensor pythonGate(Tensor gate, Tensor up, std::int64_t bytes)
    {
        const Tensor silu = graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .saves = {true}});
        return graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {silu, up}, .saves = {true, true}});
    }

    void storeProduct(Tensor tensor, bool isStored)
    {
        if (c.storesSelectively && isStored) {
            graph.store(tensor);
        }
    }

    const TorchShape& c;
    const Architecture& a;
    ModuleGraph& graph;
};

} // namespace

void writeTorchBlock(const TorchShape& shape, PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph graph(shape.streamBytes(), true);
    TorchModules(shape, graph).block(graph.input());
    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.cublasWorkspace = shape.cublasWorkspace;
    options.keepsInput = shape.checkpoints;
    const TorchWeights weights = blockWeights(shape);
    setTorchGathered(shape, weights, options);
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
}

} // namespace headroom
