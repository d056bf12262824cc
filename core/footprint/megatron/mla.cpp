// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's multi-head latent attention (transformer/multi_latent_attention.py; theory_moe_cp.md section 5).
#include "footprint/megatron/blocks.h"

namespace headroom {

using enum TensorKind;

MegatronModules::Tensor MegatronLatentAttention::branch(const Tensor& input)
{
    return behindNorm(input, [this](const Tensors& normed) { return Tensors{attention(normed.front())}; });
}

MegatronModules::Tensor MegatronLatentAttention::attention(const Tensor& normed)
{
    const LatentShape& latent = m_shape.latentAttention;
    const std::int64_t local = m_shape.localTokens();
    // Down projections are replicated and work on this rank's part of the sequence.
    Tensor query = latent.query > 0 ? replicated(normed,
                                                 {local, m_shape.hidden, latent.query, AttentionLatent, false, true,
                                                  Adapters::Query, TrainedParts::QueryLatent})
                                    : normed;
    Tensor keyValue = replicated(normed,
                                 {local, m_shape.hidden, latent.keyValue + latent.rotary, AttentionLatent, false, true,
                                  Adapters::Key, TrainedParts::Key});
    Tensor rotaryKey = m_shape.sequenceShards > 1
        ? recorder.run({keyValue}, AttentionLatent, m_shape.tokens() * latent.rotary * m_shape.element)
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
                                  {m_shape.heads, m_shape.heads, latent.plain + latent.rotary, latent.value, false});
    recorder.discard(qkv, context);
    qkv = {};
    return rowParallel(context,
                       {m_shape.tokens(), m_shape.heads * latent.value, m_shape.hidden, PartialOutput, false, true,
                        Adapters::Output, TrainedParts::Output});
}

/// Up projections and rotary positions. Concatenations make new q and k, and v becomes contiguous, so that what the
/// projections made is not kept; every rotation keeps its own cosine and sine.
MegatronModules::Tensors MegatronLatentAttention::expand(const Tensors& latents)
{
    const LatentShape& latent = m_shape.latentAttention;
    const std::int64_t tokens = m_shape.tokens();
    const std::int64_t keyWidth = m_shape.heads * (latent.plain + latent.rotary);
    const std::int64_t valueWidth = m_shape.heads * latent.value;
    const bool hasQueryNorm = latent.query > 0 && latent.hasNorms;
    const std::int64_t queryInputs = latent.query > 0 ? latent.query : m_shape.hidden;
    Tensor query = columnParallel(
        latents[0],
        {tokens, queryInputs, keyWidth, LatentQkv, hasQueryNorm, true, Adapters::Query, TrainedParts::Query});
    Tensor keyValueLatent = latents[1]; // the part that is not rotated
    keyValueLatent.bytes = m_shape.localTokens() * latent.keyValue * m_shape.element;
    const Tensor keyValue = columnParallel(keyValueLatent,
                                           {tokens, latent.keyValue, m_shape.heads * latent.plain + valueWidth,
                                            LatentQkv, latent.hasNorms, true, Adapters::Value, TrainedParts::Value});
    keyValueLatent = {};
    const std::int64_t tableBytes = 2 * m_shape.sequence * latent.rotary * m_shape.element;
    const Storage queryTables = recorder.allocate(RotaryTables, tableBytes);
    const Storage keyTables = recorder.allocate(RotaryTables, tableBytes);
    const Tensor rotated = recorder.run({query}, LatentQkv, tokens * keyWidth * m_shape.element, {queryTables});
    query = {};
    const Tensor key
        = recorder.run({keyValue, latents[2]}, LatentQkv, tokens * keyWidth * m_shape.element, {keyTables});
    const Tensor value = recorder.run({keyValue}, LatentQkv, tokens * valueWidth * m_shape.element);
    return {rotated, key, value};
}

} // namespace headroom
