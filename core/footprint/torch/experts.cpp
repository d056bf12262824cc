// SPDX-License-Identifier: GPL-3.0-or-later
// Experts and latent attention of PyTorch frameworks (theory_frameworks.md 4, 5; theory.md 1.3, 3.7, 3.8).
#include "footprint/torch/modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

/// modeling_deepseek_v3.py: q and k are new tensors into which both parts of a head are written, the value is a view of
/// the up-projection, which therefore stays whole.
Tensor TorchModules::latentAttention(Tensor normed)
{
    const ModuleGraph::Checkpoint checkpoint(rebuilt(TorchShape::SelfAttention));
    const std::int64_t heads = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1);
    const std::int64_t headDim = m_model.nopeDim + m_model.ropeDim;
    const Tensor input = gather(normed);
    Tensor query = input;
    std::int64_t queryIn = m_model.hidden;
    if (m_model.qLoraRank > 0) {
        const Tensor latent = linear(
            input, AttentionLatent,
            {m_shape.tokens, m_model.hidden, m_model.qLoraRank, Adapters::Query, 1, 0, TrainedParts::QueryLatent});
        query = norm(latent, m_shape.tokens, m_model.qLoraRank, TrainedParts::QueryNorm);
        queryIn = m_model.qLoraRank;
    }
    query = linear(query, LatentQkv,
                   {m_shape.tokens, queryIn, heads * headDim, Adapters::Query, 1, 0, TrainedParts::Query});
    const Tensor down = linear(
        input, AttentionLatent,
        {m_shape.tokens, m_model.hidden, m_model.kvLoraRank + m_model.ropeDim, Adapters::Key, 1, 0, TrainedParts::Key});
    const Tensor latent = norm(down, m_shape.tokens, m_model.kvLoraRank, TrainedParts::KeyNorm);
    const Tensor up = linear(latent, LatentQkv,
                             {m_shape.tokens, m_model.kvLoraRank, heads * (m_model.nopeDim + m_model.valueDim),
                              Adapters::Value, 1, 0, TrainedParts::Value});
    const std::int64_t assembled = m_shape.tokens * heads * headDim * m_shape.compute;
    const Tensor wholeQuery = m_graph.apply({.kind = RotatedQk, .bytes = assembled, .reads = {query}});
    const Tensor wholeKey = m_graph.apply({.kind = RotatedQk, .bytes = assembled, .reads = {up, down}});
    const Tensor context = attend(wholeQuery, wholeKey, up, heads, heads * m_model.valueDim);
    return scatter(linear(
        context, PartialOutput,
        {m_shape.tokens, heads * m_model.valueDim, m_model.hidden, Adapters::Output, 1, 0, TrainedParts::Output}));
}

/// Scores of every expert in fp32, of which the largest are kept with where they stand.
Tensor TorchModules::route(Tensor input)
{
    const Linear router{m_shape.tokens, m_model.hidden, m_model.experts, Adapters::Other, 1, 0, TrainedParts::Router};
    const Tensor logits = product(input, RouterScores, router, m_shape.trains(TrainedParts::Router));
    const Tensor scores = m_graph.apply(
        {.kind = RouterScores, .bytes = m_shape.tokens * m_model.experts * 4, .reads = {logits}, .savesResult = true});
    return m_graph.apply({.kind = RoutedProbabilities,
                          .bytes = m_shape.tokens * m_model.topk * 4,
                          .reads = {scores},
                          .keeps = {{SortIndex, m_shape.tokens * m_model.topk * 8}}});
}

/// Rows by their scores: in fp32, of which both factors stay, or in the type of the rows. The gradient of a score is
/// made for every element of its row before the row is summed (tools/autograd/derivatives.yaml, mul), unless compiled.
Tensor TorchModules::weighted(Tensor rows, Tensor scores, std::int64_t count)
{
    const std::int64_t elements = count * m_model.routedWidth();
    const bool isCast = m_shape.habits.weighsInFp32 && m_shape.compute < 4;
    const Tensor factor = isCast ? m_graph.apply({.kind = SortedTokens, .bytes = elements * 4, .reads = {rows}}) : rows;
    const std::int64_t bytes = elements * (isCast ? 4 : m_shape.compute);
    const Tensor product = m_graph.apply({.kind = UnsortedTokens,
                                          .bytes = bytes,
                                          .reads = {factor, scores},
                                          .saves = {true, true},
                                          .backwardWork = m_shape.isCompiled ? 0 : bytes});
    return isCast ? m_graph.apply({.kind = UnsortedTokens, .bytes = elements * m_shape.compute, .reads = {product}})
                  : product;
}

/// What a shared expert made, times a number a token (modeling_qwen2_moe.py, shared_expert_gate).
Tensor TorchModules::opened(Tensor input, Tensor shared)
{
    if (!m_model.sharedGate) {
        return shared;
    }
    const std::int64_t bytes = m_graph.bytesOf(shared);
    const Tensor raw = linear(input, RouterScores,
                              {m_shape.tokens, m_model.hidden, 1, Adapters::Other, 1, 0, TrainedParts::SharedOpening});
    const Tensor gate
        = m_graph.apply({.kind = RouterScores, .bytes = m_graph.bytesOf(raw), .reads = {raw}, .savesResult = true});
    return m_graph.apply({.kind = PartialOutput,
                          .bytes = bytes,
                          .reads = {gate, shared},
                          .saves = {true, true},
                          .backwardWork = m_shape.isCompiled ? 0 : bytes});
}

/// Rows sorted by expert, sent to the ranks that hold them, worked on in one grouped product, sent back and summed; in
/// a narrower space between two products of all tokens where there is one (transformers modeling_nemotron_h.py,
/// fc1_latent_proj and fc2_latent_proj; from memory).
Tensor TorchModules::experts(Tensor input)
{
    const ModuleGraph::Checkpoint checkpoint(rebuilt(TorchShape::Experts));
    const Tensor scores = route(input);
    const std::int64_t rows = m_shape.expertRows();
    const std::int64_t width = m_model.routedWidth(), bytes = rows * width * m_shape.compute;
    const bool isNarrow = m_model.latent > 0;
    const Tensor offered = isNarrow ? linear(input, ExpertLatent, {m_shape.tokens, m_model.hidden, width}) : input;
    Tensor routed
        = m_graph.apply({.kind = PermutedTokens, .bytes = bytes, .reads = {offered}, .keeps = {{SortIndex, rows * 8}}});
    if (m_shape.expertRanks > 1) {
        routed = m_graph.apply({.kind = DispatchedTokens, .bytes = bytes, .reads = {routed}});
    }
    if (m_shape.habits.weighsBeforeExperts) {
        routed = weighted(routed, scores, rows);
    }
    const Linear in{rows,
                    width,
                    m_model.expertFfn / m_shape.expertTensor,
                    Adapters::MlpIn,
                    m_model.experts / m_shape.expertRanks,
                    m_shape.expertShards()};
    Tensor output = mlp(routed, width, in, expertMlp);
    if (m_shape.expertRanks > 1) {
        output = m_graph.apply({.kind = ReturnedTokens, .bytes = bytes, .reads = {output}});
    }
    if (!m_shape.habits.weighsBeforeExperts) {
        output = weighted(output, scores, rows);
    }
    const std::int64_t sumBytes = m_shape.tokens * m_model.hidden * m_shape.compute;
    const Tensor summed
        = m_graph.apply({.kind = PartialOutput, .bytes = m_shape.tokens * width * m_shape.compute, .reads = {output}});
    const Tensor sum = isNarrow ? linear(summed, PartialOutput, {m_shape.tokens, width, m_model.hidden}) : summed;
    if (m_model.sharedFfn == 0) {
        return sum;
    }
    const Linear shared{m_shape.tokens, m_model.hidden, m_model.sharedFfn / m_shape.tensor, Adapters::MlpIn};
    return m_graph.apply({.kind = PartialOutput,
                          .bytes = sumBytes,
                          .reads = {sum, opened(input, mlp(input, m_model.hidden, shared, sharedMlp))},
                          .passesGradient = true});
}

} // namespace headroom
