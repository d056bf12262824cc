// SPDX-License-Identifier: GPL-3.0-or-later
// Experts and latent attention of PyTorch frameworks (theory_frameworks.md 4, 5; theory.md 1.3, 3.7, 3.8).
#include "footprint/tape_torch_modules.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;
using Operation = TorchModules::Operation;

/// modeling_deepseek_v3.py: q and k are new tensors into which both parts of a head are written, the value is a view of
/// the up-projection, which therefore stays whole.
Tensor TorchModules::latentAttention(Tensor normed)
{
    const std::int64_t heads = std::max<std::int64_t>(a.heads / c.tensor, 1);
    const std::int64_t headDim = a.nopeDim + a.ropeDim;
    const Tensor input = gather(normed);
    Tensor query = input;
    std::int64_t queryIn = a.hidden;
    if (a.qLoraRank > 0) {
        const Tensor latent = linear(input, AttentionLatent, {c.tokens, a.hidden, a.qLoraRank, Adapters::Query});
        storeProduct(latent, true);
        query = norm(latent, c.tokens, a.qLoraRank);
        queryIn = a.qLoraRank;
    }
    query = linear(query, LatentQkv, {c.tokens, queryIn, heads * headDim, Adapters::Query});
    const Tensor down = linear(input, AttentionLatent, {c.tokens, a.hidden, a.kvLoraRank + a.ropeDim, Adapters::Key});
    storeProduct(down, true);
    const Tensor latent = norm(down, c.tokens, a.kvLoraRank);
    const Tensor up
        = linear(latent, LatentQkv, {c.tokens, a.kvLoraRank, heads * (a.nopeDim + a.valueDim), Adapters::Value});
    const std::int64_t assembled = c.tokens * heads * headDim * c.compute;
    const Tensor wholeQuery = graph.apply({.kind = RotatedQk, .bytes = assembled, .reads = {query}});
    const Tensor wholeKey = graph.apply({.kind = RotatedQk, .bytes = assembled, .reads = {up, down}});
    const Tensor context = attend(wholeQuery, wholeKey, up, heads, heads * a.valueDim);
    return scatter(linear(context, PartialOutput, {c.tokens, heads * a.valueDim, a.hidden, Adapters::Output}));
}

/// Scores of every expert in fp32, of which the largest are kept with where they stand.
Tensor TorchModules::route(Tensor input)
{
    const Linear router{c.tokens, a.hidden, a.experts};
    const Tensor logits = product(input, RouterScores, router, c.trainsModel);
    const Tensor scores = graph.apply(
        {.kind = RouterScores, .bytes = c.tokens * a.experts * 4, .reads = {logits}, .savesResult = true});
    return graph.apply({.kind = RoutedProbabilities,
                        .bytes = c.tokens * a.topk * 4,
                        .reads = {scores},
                        .keeps = {{SortIndex, c.tokens * a.topk * 8}}});
}

/// Rows by their scores: in fp32, of which both factors stay, or in the type of the rows.
Tensor TorchModules::weighted(Tensor rows, Tensor scores, std::int64_t count)
{
    const std::int64_t elements = count * a.hidden;
    if (!c.habits.weighsInFp32 || c.compute == 4) {
        return graph.apply(
            {.kind = UnsortedTokens, .bytes = elements * c.compute, .reads = {rows, scores}, .saves = {true, true}});
    }
    const Tensor cast = graph.apply({.kind = SortedTokens, .bytes = elements * 4, .reads = {rows}});
    const Tensor product
        = graph.apply({.kind = UnsortedTokens, .bytes = elements * 4, .reads = {cast, scores}, .saves = {true, true}});
    return graph.apply({.kind = UnsortedTokens, .bytes = elements * c.compute, .reads = {product}});
}

/// Rows sorted by expert, sent to the ranks that hold them, worked on in one grouped product, sent back and summed.
Tensor TorchModules::experts(Tensor input)
{
    const Tensor scores = route(input);
    const std::int64_t rows = c.expertRows();
    const std::int64_t bytes = rows * a.hidden * c.compute;
    Tensor routed
        = graph.apply({.kind = PermutedTokens, .bytes = bytes, .reads = {input}, .keeps = {{SortIndex, rows * 8}}});
    if (c.expertRanks > 1) {
        routed = graph.apply({.kind = DispatchedTokens, .bytes = bytes, .reads = {routed}});
    }
    if (c.habits.weighsBeforeExperts) {
        routed = weighted(routed, scores, rows);
    }
    const Linear in{rows,
                    a.hidden,
                    a.expertFfn / c.expertTensor,
                    Adapters::MlpIn,
                    a.experts / c.expertRanks,
                    c.shards / c.expertRanks};
    Tensor output = mlp(routed, a.hidden, in, false);
    if (c.expertRanks > 1) {
        output = graph.apply({.kind = ReturnedTokens, .bytes = bytes, .reads = {output}});
    }
    if (!c.habits.weighsBeforeExperts) {
        output = weighted(output, scores, rows);
    }
    const std::int64_t sumBytes = c.tokens * a.hidden * c.compute;
    const Tensor sum = graph.apply({.kind = PartialOutput, .bytes = sumBytes, .reads = {output}});
    if (a.sharedFfn == 0) {
        return sum;
    }
    const Linear shared{c.tokens, a.hidden, a.sharedFfn / c.tensor, Adapters::MlpIn};
    return graph.apply({.kind = PartialOutput,
                        .bytes = sumBytes,
                        .reads = {sum, mlp(input, a.hidden, shared, true)},
                        .passesGradient = true});
}

} // namespace headroom
