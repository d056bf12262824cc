// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of PyTorch frameworks.
#include "footprint/torch/modules.h"

#include <algorithm>
#include <utility>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

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
    Tensor key = linear(input, KeyValueProjection,
                        {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Key, 1, 0, TrainedParts::Key});
    Tensor value = linear(input, KeyValueProjection,
                          {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Value, 1, 0, TrainedParts::Value});
    query = rotated(perHeadNorm(query, heads, TrainedParts::QueryNorm));
    key = repeated(rotated(perHeadNorm(key, groups, TrainedParts::KeyNorm)));
    value = repeated(value);
    const Tensor context = tokensFirst(attend(query, key, value, heads, width));
    return scatter(linear(context, PartialOutput,
                          {m_shape.tokens, width, m_model.hidden, Adapters::Output, 1, 0, TrainedParts::Output}));
}

/// Where attention wanted sequences first. Of one sequence both orders are the same.
Tensor TorchModules::tokensFirst(Tensor context)
{
    return !m_shape.habits.copiesContext || m_shape.sequences == 1
        ? context
        : m_graph.apply(
            {.kind = ContextCopy, .bytes = m_graph.bytesOf(context), .reads = {context}, .passesGradient = true});
}

/// modeling_qwen3_next.py, Qwen3NextAttention: queries and gates come from one product, whose halves alternate by
/// heads, so that the gates are copied; their sigmoid and the context are both factors.
Tensor TorchModules::gatedAttention(Tensor normed)
{
    const ModuleGraph::Checkpoint checkpoint(rebuilt(TorchShape::SelfAttention));
    const std::int64_t heads = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1);
    const std::int64_t groups = std::max<std::int64_t>(m_model.groups / m_shape.tensor, 1);
    const std::int64_t width = heads * m_model.headDim, keyWidth = groups * m_model.headDim;
    const std::int64_t bytes = m_shape.tokens * width * m_shape.compute;
    const Tensor input = columnInput(normed);
    const Tensor packed
        = linear(input, QueryProjection,
                 {m_shape.tokens, m_model.hidden, 2 * width, Adapters::Query, 1, 0, TrainedParts::Query});
    const Tensor gate = m_graph.apply({.kind = QueryProjection, .bytes = bytes, .reads = {packed}});
    const Tensor query = m_model.qkNorm ? rotated(perHeadNorm(packed, heads, TrainedParts::QueryNorm))
                                        : m_graph.apply({.kind = RotatedQk, .bytes = bytes, .reads = {packed}});
    const Tensor key = linear(input, KeyValueProjection,
                              {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Key, 1, 0, TrainedParts::Key});
    const Tensor value = linear(input, KeyValueProjection,
                                {m_shape.tokens, m_model.hidden, keyWidth, Adapters::Value, 1, 0, TrainedParts::Value});
    const Tensor context = tokensFirst(attend(query, repeated(rotated(perHeadNorm(key, groups, TrainedParts::KeyNorm))),
                                              repeated(value), heads, width));
    const Tensor opened = m_graph.apply({.kind = GateProduct, .bytes = bytes, .reads = {gate}, .savesResult = true});
    const Tensor gated = m_graph.apply({.kind = ContextCopy,
                                        .bytes = bytes,
                                        .reads = {context, opened},
                                        .saves = {true, true},
                                        .backwardWork = bytes});
    return scatter(linear(gated, PartialOutput,
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

} // namespace headroom
