// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/modules.h"

#include <algorithm>
#include <utility>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

Tensor TorchModules::block(Tensor stream, bool hasExperts, bool attendsAcross)
{
    if (m_model.isParallel) {
        return parallelBlock(stream, hasExperts);
    }
    const Tensor normed = norm(stream, m_shape.localTokens(), m_model.hidden);
    Tensor afterAttention = add(stream, dropped(m_model.isMla ? latentAttention(normed) : attention(normed)));
    if (attendsAcross) {
        const Tensor again = norm(afterAttention, m_shape.localTokens(), m_model.hidden, TrainedParts::SecondNorm);
        afterAttention = add(afterAttention, dropped(crossAttention(again)));
    }
    const Tensor widening = norm(afterAttention, m_shape.localTokens(), m_model.hidden, TrainedParts::SecondNorm);
    const Tensor input = hasExperts ? gather(widening) : columnInput(widening);
    const Linear in{m_shape.tokens, m_model.hidden, m_model.ffn / m_shape.tensor, Adapters::MlpIn};
    return add(afterAttention,
               dropped(scatter(hasExperts ? experts(input) : mlp(input, m_model.hidden, in, denseMlp))));
}

/// transformers modeling_gpt_neox.py with two norms, modeling_falcon.py, modeling_phi.py and modeling_cohere.py with
/// one, whose result both halves keep.
Tensor TorchModules::parallelBlock(Tensor stream, bool hasExperts)
{
    const Tensor normed = norm(stream, m_shape.localTokens(), m_model.hidden);
    const Tensor other = m_model.blockNorms == 1
        ? normed
        : norm(stream, m_shape.localTokens(), m_model.hidden, TrainedParts::SecondNorm);
    const Tensor attended = dropped(m_model.isMla ? latentAttention(normed) : attention(normed));
    const Tensor input = hasExperts ? gather(other) : columnInput(other);
    const Linear in{m_shape.tokens, m_model.hidden, m_model.ffn / m_shape.tensor, Adapters::MlpIn};
    const Tensor widened = dropped(scatter(hasExperts ? experts(input) : mlp(input, m_model.hidden, in, denseMlp)));
    return add(add(widened, attended), stream);
}

Tensor TorchModules::norm(Tensor input, std::int64_t rows, std::int64_t width, TrainedParts::Part part)
{
    const bool isTrained = m_shape.trains(part);
    const bool isOfStream = part == TrainedParts::FirstNorm || part == TrainedParts::SecondNorm;
    const ModuleGraph::Checkpoint checkpoint(isOfStream ? rebuilt(TorchShape::Norms) : nullptr);
    const std::int64_t elements = rows * width;
    Operation op{.kind = NormOutput, .bytes = elements * m_shape.compute, .reads = {input}};
    if (m_model.layerNorm || m_shape.hasFusedNorm) {
        op.saves = {true};
        op.keeps = {{NormStatistics, rows * (m_model.layerNorm ? 8 : 4)}};
    } else {
        op.keeps = {{NormCopy, elements * 4}, {NormStatistics, rows * 4}};
        if (isTrained) {
            op.keeps.push_back({NormOutput, elements * m_shape.normElement});
        }
        op.forwardWork = 4 * elements;
        op.backwardWork = 4 * elements;
    }
    op.weight = isTrained ? width * (m_model.layerNorm ? 2 : 1) : 0;
    return m_graph.apply(std::move(op));
}

Tensor TorchModules::add(Tensor x, Tensor y)
{
    return m_graph.apply({.kind = ResidualStream,
                          .bytes = std::max(m_graph.bytesOf(x), m_graph.bytesOf(y)),
                          .reads = {x, y},
                          .passesGradient = true});
}

Tensor TorchModules::gelu(Tensor input)
{
    return m_graph.apply(
        {.kind = ActivationOutput, .bytes = m_graph.bytesOf(input), .reads = {input}, .saves = {true}});
}

Tensor TorchModules::dropped(Tensor input)
{
    const std::int64_t bytes = m_graph.bytesOf(input);
    return !m_shape.hasHiddenDropout ? input
                                     : m_graph.apply({.kind = ResidualStream,
                                                      .bytes = bytes,
                                                      .reads = {input},
                                                      .keeps = {{DropoutMask, bytes / m_shape.compute}}});
}

/// Not the router, whose converters leave it out, nor experts, which are parameters of one grouped product.
bool TorchModules::computesInFloat8(const Linear& layer) const
{
    constexpr unsigned others
        = TrainedParts::Router | TrainedParts::ExpertGate | TrainedParts::ExpertUp | TrainedParts::ExpertDown;
    return (layer.part & others) == 0 && m_shape.float8.computes(layer.in, layer.out);
}

/// A GEMM keeps its input only for the gradient of its weight.
Tensor TorchModules::product(Tensor input, TensorKind kind, const Linear& layer, bool trains)
{
    const std::int64_t weight = layer.in * layer.out * layer.count;
    Operation op{.kind = kind, .bytes = layer.rows * layer.out * m_shape.compute, .reads = {input}};
    op.saves = {trains || (m_shape.quantises && m_shape.habits.savesQuantisedInputs)};
    op.weight = trains ? weight : 0;
    op.weightShards = layer.shards;
    op.isMatrixProduct = true;
    if (input == m_memory) {
        op.backwardWork = m_shape.memoryBytes(); // its gradient, before it is added to that of the other layers
    } else if (m_shape.gathersAgain && m_graph.bytesOf(input) < layer.rows * layer.in * m_shape.compute) {
        op.backwardWork = layer.rows * layer.in * m_shape.compute; // the gradient of all tokens, before it is scattered
    }
    if (computesInFloat8(layer)) {
        const bool needsGradient = trains || m_graph.needsGradient(input);
        m_shape.float8.describe({layer.rows, layer.in, layer.out, m_shape.compute, trains, needsGradient}, op);
    } else if (trains ? m_shape.castsWeights : m_shape.castsFrozen) {
        op.keeps = {{WeightCopies, weight * m_shape.compute}}; // the autocast cache
    } else if (m_shape.unpacksWeights && !trains) {
        op.reads = {input, unpacked(layer.in * layer.out)};
        op.saves[1] = true;
    } else if (m_shape.quantises && !trains) {
        op.forwardWork = op.backwardWork = m_shape.unpackedBytes(layer.in * layer.out);
    }
    return m_graph.apply(std::move(op));
}

/// auto_gptq/nn_modules/qlinear/qlinear_cuda_old.py, forward: shifted copies in int32, their cast to int8, that less
/// the zero points, that times the scales. The product is PyTorch's own, which keeps its second factor for the gradient
/// of the first.
Tensor TorchModules::unpacked(std::int64_t elements)
{
    constexpr std::int64_t shifted = 4;
    const Tensor integers
        = m_graph.apply({.kind = WeightCopies, .bytes = elements, .reads = {}, .forwardWork = elements * shifted});
    return m_graph.apply(
        {.kind = WeightCopies, .bytes = elements * m_shape.compute, .reads = {integers}, .forwardWork = elements});
}

/// With an adapter: the input once more in its type, dropped out, through rank r and back, and added.
Tensor TorchModules::linear(Tensor input, TensorKind kind, const Linear& layer)
{
    const Tensor base = product(input, kind, layer, trains(layer));
    const bool isPacked = m_shape.adaptsPackedQkv && (layer.target == Adapters::Key || layer.target == Adapters::Value);
    if (!m_shape.hasAdapter(layer.target) || isPacked) {
        return base; // the packed adapter is written where the query is
    }
    const std::int64_t rank = m_shape.adapters.rank;
    const Tensor low = adapterHalf(adapterInput(input, layer), layer, rank, layer.in * rank);
    const Tensor high = adapterHalf(low, layer, layer.out, rank * layer.out);
    return m_graph.apply({.kind = kind,
                          .bytes = layer.rows * layer.out * m_shape.compute,
                          .reads = {base, high},
                          .passesGradient = true});
}

Tensor TorchModules::adapterInput(Tensor input, const Linear& layer)
{
    const std::int64_t element = m_shape.adapterCompute;
    Tensor x = input;
    if (element != m_shape.compute) {
        x = m_graph.apply({.kind = AdapterActivations, .bytes = layer.rows * layer.in * element, .reads = {x}});
    }
    if (m_shape.hasAdapterDropout) {
        x = m_graph.apply({.kind = AdapterActivations,
                           .bytes = layer.rows * layer.in * element,
                           .reads = {x},
                           .keeps = {{DropoutMask, layer.rows * layer.in}}});
    }
    return x;
}

Tensor TorchModules::adapterHalf(Tensor input, const Linear& layer, std::int64_t width, std::int64_t weight)
{
    const std::int64_t element = m_shape.adapterCompute;
    Operation op{.kind = AdapterActivations, .bytes = layer.rows * width * element, .reads = {input}};
    op.saves = {true};
    op.weight = weight * layer.count;
    op.weightElement = element;
    op.weightShards = layer.shards;
    op.isMatrixProduct = true;
    return m_graph.apply(std::move(op));
}

/// LitGPT's LoRAQKVLinear (lora.py): one product for q, k and v, adapters for some of them. Their results, made
/// contiguous, are copied into the columns they belong to (zero_pad); index_copy keeps them, whose shape its backward
/// reads (tools/autograd/derivatives.yaml). Scaling makes one more of the whole.
Tensor TorchModules::packedProjection(Tensor input, std::int64_t width, std::int64_t keyWidth)
{
    const Linear layer{m_shape.tokens,     m_model.hidden, width + 2 * keyWidth, Adapters::Query, 1, 0,
                       TrainedParts::Query};
    std::int64_t adapted = 0, many = 0;
    for (const auto& [target, columns] : {std::pair{Adapters::Query, width}, std::pair{Adapters::Key, keyWidth},
                                          std::pair{Adapters::Value, keyWidth}}) {
        adapted += m_shape.hasAdapter(target) ? columns : 0;
        many += m_shape.hasAdapter(target) ? 1 : 0;
    }
    if (m_shape.adaptsPackedQkv || adapted == 0) {
        return linear(input, Qkv, layer);
    }
    const std::int64_t ranks = m_shape.adapters.rank * many;
    const std::int64_t bytes = layer.rows * layer.out * m_shape.compute;
    const Tensor base = product(input, Qkv, layer, trains(layer));
    const Tensor low = adapterHalf(adapterInput(input, layer), layer, ranks, layer.in * ranks);
    Tensor high = adapterHalf(low, layer, adapted, m_shape.adapters.rank * adapted);
    if (adapted < layer.out) {
        const Tensor copy
            = m_graph.apply({.kind = AdapterActivations, .bytes = m_graph.bytesOf(high), .reads = {high}});
        high = m_graph.apply({.kind = AdapterActivations, .bytes = bytes, .reads = {copy}, .saves = {true}});
    }
    const Tensor scaled = m_graph.apply({.kind = AdapterActivations, .bytes = bytes, .reads = {high}});
    return m_graph.apply({.kind = Qkv, .bytes = bytes, .reads = {base, scaled}, .passesGradient = true});
}

/// New q and k; cos and sin are constants, so nothing is kept.
Tensor TorchModules::rotated(Tensor input)
{
    if (!m_shape.rotates) {
        return input;
    }
    const std::int64_t bytes = m_graph.bytesOf(input);
    return m_graph.apply(
        {.kind = RotatedQk, .bytes = bytes, .reads = {input}, .forwardWork = bytes, .backwardWork = bytes});
}

Tensor TorchModules::perHeadNorm(Tensor input, std::int64_t heads, TrainedParts::Part part)
{
    return m_model.qkNorm ? norm(input, m_shape.tokens * heads, m_model.headDim, part) : input;
}

Tensor TorchModules::repeated(Tensor input)
{
    return !m_shape.repeatsKv || m_model.groups == m_model.heads
        ? input
        : m_graph.apply(
            {.kind = RepeatedKv, .bytes = m_graph.bytesOf(input) / m_model.groups * m_model.heads, .reads = {input}});
}

Tensor TorchModules::attention(Tensor normed)
{
    const ModuleGraph::Checkpoint checkpoint(rebuilt(TorchShape::SelfAttention));
    const std::int64_t heads = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1);
    const std::int64_t groups = std::max<std::int64_t>(m_model.groups / m_shape.tensor, 1);
    const std::int64_t width = heads * m_model.headDim;
    const std::int64_t keyWidth = groups * m_model.headDim;
    const Tensor input = columnInput(normed);
    if (m_shape.habits.packsQkv) {
        const Tensor packed = packedProjection(input, width, keyWidth);
        const auto turned = [&](std::int64_t columns) {
            return m_graph.apply(
                {.kind = RotatedQk, .bytes = m_shape.tokens * columns * m_shape.compute, .reads = {packed}});
        };
        const Tensor context = attend(turned(width), repeated(turned(keyWidth)), packed, heads, width);
        return scatter(linear(context, PartialOutput,
                              {m_shape.tokens, width, m_model.hidden, Adapters::Output, 1, 0, TrainedParts::Output}));
    }
    Tensor query = linear(input, QueryProjection,
                          {m_shape.tokens, m_model.hidden, width, Adapters::Query, 1, 0, TrainedParts::Query});
    storeProduct(query, true);
    Tensor key = linear(input, KeyValueProjection,
                        {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Key, 1, 0, TrainedParts::Key});
    Tensor value = linear(input, KeyValueProjection,
                          {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Value, 1, 0, TrainedParts::Value});
    storeProduct(value, true);
    query = rotated(perHeadNorm(query, heads, TrainedParts::QueryNorm));
    key = repeated(rotated(perHeadNorm(key, groups, TrainedParts::KeyNorm)));
    value = repeated(value);
    Tensor context = attend(query, key, value, heads, width);
    if (m_shape.habits.copiesContext && m_shape.sequences > 1) { // of one sequence both orders are the same
        context = m_graph.apply(
            {.kind = ContextCopy, .bytes = m_graph.bytesOf(context), .reads = {context}, .passesGradient = true});
    }
    return scatter(linear(context, PartialOutput,
                          {m_shape.tokens, width, m_model.hidden, Adapters::Output, 1, 0, TrainedParts::Output}));
}

/// Keys and values of the encoder's tokens. What the encoder made is kept once for all layers, elsewhere.
Tensor TorchModules::crossAttention(Tensor normed)
{
    const std::int64_t heads = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1);
    const std::int64_t width = heads * m_model.headDim;
    const std::int64_t keyWidth = std::max<std::int64_t>(m_model.groups / m_shape.tensor, 1) * m_model.headDim;
    const Tensor query = linear(normed, QueryProjection, {m_shape.tokens, m_model.hidden, width, Adapters::Query});
    m_memory = m_graph.apply({.kind = ResidualStream, .bytes = 0, .reads = {}});
    const Linear memory{m_shape.memoryTokens, m_model.hidden, keyWidth, Adapters::Key};
    const Tensor key = repeated(linear(m_memory, KeyValueProjection, memory));
    const Tensor value = repeated(
        linear(m_memory, KeyValueProjection, {m_shape.memoryTokens, m_model.hidden, keyWidth, Adapters::Value}));
    m_keys = m_shape.memoryKeys;
    const Tensor context = attend(query, key, value, heads, width);
    m_keys = m_shape.keys;
    return linear(context, PartialOutput, {m_shape.tokens, width, m_model.hidden, Adapters::Output});
}

/// `width`: of the result, heads times the size of a value.
Tensor TorchModules::attend(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    const ModuleGraph::Checkpoint checkpoint(rebuilt(TorchShape::CoreAttention));
    return m_shape.hasExplicitScores ? scores(query, key, value, heads, width) : fused(query, key, value, heads, width);
}

/// Flash attention: backward sums the query's gradient in fp32 and expands those of grouped keys and values
/// (theory.md 5.3).
Tensor TorchModules::fused(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    const std::int64_t queries = m_graph.bytesOf(query) / m_shape.compute;
    const bool isGrouped = m_model.groups < m_model.heads && m_graph.bytesOf(key) < m_graph.bytesOf(query);
    Operation op{.kind = Context, .bytes = m_shape.tokens * width * m_shape.compute, .reads = {query, key, value}};
    op.saves = {true, true, true};
    op.savesResult = true;
    op.keeps = {{SoftmaxStatistics, m_shape.tokens * heads * 4}};
    op.backwardWork = queries * 4 + m_shape.tokens * heads * 4 + (isGrouped ? 2 * queries * m_shape.compute : 0);
    const Tensor context = m_graph.apply(std::move(op));
    if (m_shape.storesAttention) {
        m_graph.store(context);
    }
    return context;
}

/// theory.md 3.6: an fp32 softmax and its cast are kept, 6 bytes a score.
Tensor TorchModules::scores(Tensor query, Tensor key, Tensor value, std::int64_t heads, std::int64_t width)
{
    const std::int64_t count = m_shape.tokens * heads * m_keys;
    const Tensor raw = m_graph.apply({.kind = AttentionScores,
                                      .bytes = count * m_shape.compute,
                                      .reads = {query, key},
                                      .saves = {true, true},
                                      .isMatrixProduct = true});
    const Tensor masked = m_graph.apply({.kind = AttentionScores,
                                         .bytes = count * m_shape.compute,
                                         .reads = {raw},
                                         .passesGradient = true,
                                         .forwardWork = count * m_shape.compute});
    const Tensor softmax
        = m_graph.apply({.kind = AttentionSoftmax, .bytes = count * 4, .reads = {masked}, .savesResult = true});
    Tensor probabilities = m_shape.compute == 4
        ? softmax
        : m_graph.apply({.kind = AttentionProbabilities, .bytes = count * m_shape.compute, .reads = {softmax}});
    if (m_shape.hasAttentionDropout) {
        probabilities = m_graph.apply({.kind = AttentionProbabilities,
                                       .bytes = count * m_shape.compute,
                                       .reads = {probabilities},
                                       .keeps = {{DropoutMask, count}}});
    }
    const Tensor result = m_graph.apply({.kind = Context,
                                         .bytes = m_shape.tokens * width * m_shape.compute,
                                         .reads = {probabilities, value},
                                         .saves = {true, true},
                                         .isMatrixProduct = true});
    // Heads move behind tokens for the output projection.
    return m_graph.apply(
        {.kind = ContextCopy, .bytes = m_graph.bytesOf(result), .reads = {result}, .passesGradient = true});
}

/// `in`: the first linear layer; the last one leads to `width`.
Tensor TorchModules::mlp(Tensor input, std::int64_t width, const Linear& in, const TorchMlpParts& names)
{
    const bool isWhole = names.gate != expertMlp.gate; // the block's own, not an expert's
    const ModuleGraph::Checkpoint checkpoint(isWhole ? rebuilt(TorchShape::Mlp) : nullptr);
    Linear first = in, second = in;
    first.part = m_model.gate == 1 ? names.up : names.gate;
    second.part = names.up;
    const Tensor gate = linear(input, Fc1Output, first);
    storeProduct(gate, isWhole);
    const std::int64_t bytes = m_graph.bytesOf(gate);
    const Tensor up = m_model.gate == 1 ? ModuleGraph::none : linear(input, Fc1Output, second);
    Tensor activated = ModuleGraph::none;
    {
        const ModuleGraph::Checkpoint activation(
            rebuilt(isWhole ? TorchShape::MlpActivation : TorchShape::ExpertActivation));
        activated = up == ModuleGraph::none ? gelu(gate)
            : m_shape.hasFusedGate
            ? m_graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {gate, up}, .saves = {true, true}})
            : pythonGate(gate, up, bytes);
    }
    const Linear last{in.rows, in.out, width, Adapters::MlpOut, in.count, in.shards, names.down};
    const Tensor output = linear(activated, isWhole ? PartialOutput : SortedTokens, last);
    storeProduct(output, isWhole && m_shape.habits.cachesDeadResults && !m_shape.isCompiled);
    return output;
}

Tensor TorchModules::pythonGate(Tensor gate, Tensor up, std::int64_t bytes)
{
    const Tensor silu = m_graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .saves = {true}});
    return m_graph.apply({.kind = ActivationOutput, .bytes = bytes, .reads = {silu, up}, .saves = {true, true}});
}

void TorchModules::storeProduct(Tensor tensor, bool isStored)
{
    if (m_shape.storesSelectively && isStored) {
        m_graph.store(tensor);
    }
}

void writeTorchBlock(const TorchShape& shape, bool hasExperts, PersistentStorages& persistents, Piece& piece,
                     bool attendsAcross, bool needsGradient)
{
    ModuleGraph graph(shape.streamBytes(), needsGradient);
    TorchModules(shape, graph).block(graph.input(), hasExperts, attendsAcross);
    const TorchWeights weights = blockWeights(shape, hasExperts, attendsAcross);
    const ModuleGraph::Options options = torchBlockOptions(shape, weights);
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
    const bool trains = shape.trainsModel && (shape.trained & ~TrainedParts::outsideBlocks) != 0;
    if (!needsGradient && !trains && shape.adapters.rank == 0) {
        piece.tape.dropBackward();
    }
}

} // namespace headroom
