// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's multi-head latent attention (transformer/multi_latent_attention.py; theory_moe_cp.md section 5).
#include "footprint/tape_megatron_blocks.h"

namespace headroom {

using enum TensorKind;

MegatronModules::Tensor MegatronLatentAttention::branch(const Tensor& input)
{
    return behindNorm(input, [this](const Tensors& normed) { return Tensors{attention(normed.front())}; });
}

MegatronModules::Tensor MegatronLatentAttention::attention(const Tensor& normed)
{
    const LatentShape& latent = c.latentAttention;
    const std::int64_t local = c.localTokens();
    // Down projections are replicated and work on this rank's part of the sequence.
    Tensor query = latent.query > 0 ? replicated(normed, {local, c.hidden, latent.query, AttentionLatent}) : normed;
    Tensor keyValue = replicated(normed, {local, c.hidden, latent.keyValue + latent.rotary, AttentionLatent});
    Tensor rotaryKey = c.sequenceShards > 1
        ? recorder.run({keyValue}, AttentionLatent, c.tokens() * latent.rotary * c.element)
        : keyValue;

    const auto expanding = [this](const Tensors& latents) { return expand(latents); };
    TapeRecorder::Discarded qkv;
    if (latent.recomputesUpProjection) {
        qkv = recorder.runDiscarding(expanding, {query, keyValue, rotaryKey});
    } else {
        qkv.outputs = expand({query, keyValue, rotaryKey});
    }
    query = keyValue = rotaryKey = {};
    const Tensor context = attend(qkv.outputs[0], qkv.outputs[1], qkv.outputs[2],
                                  {c.heads, c.heads, latent.plain + latent.rotary, latent.value, false});
    recorder.discard(qkv, context);
    qkv = {};
    return rowParallel(context, {c.tokens(), c.heads * latent.value, c.hidden, PartialOutput});
}

/// Up projections and rotary positions. Concatenations make new q and k, and v becomes contiguous, so that what the
/// projections made is not kept; every rotation keeps its own cosine and sine.
MegatronModules::Tensors MegatronLatentAttention::expand(const Tensors& latents)
{
    const LatentShape& latent = c.latentAttention;
    const std::int64_t tokens = c.tokens();
    const std::int64_t keyWidth = c.heads * (latent.plain + latent.rotary);
    const std::int64_t valueWidth = c.heads * latent.value;
    const bool hasQueryNorm = latent.query > 0 && latent.hasNorms;
    const std::int64_t queryInputs = latent.query > 0 ? latent.query : c.hidden;
    Tensor query = columnParallel(latents[0], {tokens, queryInputs, keyWidth, LatentQkv, hasQueryNorm});
    Tensor keyValueLatent = latents[1]; // the part that is not rotated
    keyValueLatent.bytes = c.localTokens() * latent.keyValue * c.element;
    const Tensor keyValue = columnParallel(
        keyValueLatent, {tokens, latent.keyValue, c.heads * latent.plain + valueWidth, LatentQkv, latent.hasNorms});
    keyValueLatent = {};
    const std::int64_t tableBytes = 2 * c.sequence * latent.rotary * c.element;
    const Storage queryTables = recorder.allocate(RotaryTables, tableBytes);
    const Storage keyTables = recorder.allocate(RotaryTables, tableBytes);
    const Tensor rotated = recorder.run({query}, LatentQkv, tokens * keyWidth * c.element, {queryTables});
    query = {};
    const Tensor key = recorder.run({keyValue, latents[2]}, LatentQkv, tokens * keyWidth * c.element, {keyTables});
    const Tensor value = recorder.run({keyValue}, LatentQkv, tokens * valueWidth * c.element);
    return {rotated, key, value};
}

} // namespace headroom
