// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_attention.h"

namespace headroom {

using enum TensorKind;

MegatronAttention::MegatronAttention(MegatronOps& ops, std::int64_t sequence, std::int64_t keySequence, Mask mask,
                                     bool isCross)
    : m_ops(ops)
    , w(ops.w)
    , c(ops.c)
    , m_sequence(sequence)
    , m_keySequence(keySequence)
    , m_mask(mask)
    , m_isCross(isCross)
    , m_tokens(c.microBatch * sequence)
    , m_localTokens(m_tokens / c.sequenceShards)
    , m_queryBytes(m_tokens * c.heads * c.headDim * c.element)
    , m_keyBytes(c.microBatch * keySequence * (isCross ? c.heads : c.groups) * c.headDim * c.element)
    , m_scores(c.microBatch * c.heads * sequence * keySequence)
{
}

Tape::Slot MegatronAttention::forward()
{
    m_norm = m_ops.norm(m_localTokens, c.hidden, true);
    const Tape::Slot gathered = m_ops.gatherInput(m_tokens);
    SlotList projected;
    if (m_isCross) {
        projected.add(m_ops.linear(QueryProjection, m_queryBytes, c.hasQkvBias));
        projected.add(m_ops.linear(KeyValueProjection, 2 * m_keyBytes, c.hasQkvBias));
    } else {
        projected.add(m_ops.linear(Qkv, m_queryBytes + 2 * m_keyBytes, c.hasQkvBias));
    }
    w.free(gathered);
    m_ops.dropInput(m_norm.output);
    prepare(projected);
    Core result = core();
    if (c.recomputesAttention) {
        // Only what core attention reads survives.
        for (const Tape::Slot slot : result.saved) {
            if (!m_inputs.contains(slot)) {
                w.free(slot);
            }
        }
        result.saved = m_inputs;
        result.held.clear();
    }
    m_saved = result.saved;
    m_context = m_ops.quantised(result.context, m_tokens * c.heads * c.headDim, m_saved.contains(result.context));
    const Tape::Slot product = m_ops.linear(PartialOutput, m_ops.streamBytes(m_tokens));
    const Tape::Slot output = m_ops.scatter(product, PartialOutput, m_tokens);
    // Kernels that read their result in backward keep it themselves: flash its own copy when it turned the layout.
    const bool isKernels
        = c.kernel == AttentionKernel::Fused || (c.kernel == AttentionKernel::Flash && c.microBatch == 1);
    if (!isKernels && !m_saved.contains(m_context)) {
        m_ops.dropInput(m_context);
    }
    w.freeAll(result.held);
    const auto [stream, mask] = m_ops.addResidual(output, m_localTokens);
    m_dropoutMask = mask;
    return stream;
}

/// q/k norms and rotary positions make new, contiguous q and k.
void MegatronAttention::prepare(const SlotList& projected)
{
    SlotList fresh;
    if (c.hasQkNorm && !m_isCross) {
        for (const std::int64_t bytes : {m_queryBytes, m_keyBytes}) {
            m_kept.add(w.allocate(QkNormInput, bytes));
            fresh.add(w.allocate(QkNormOutput, bytes));
            for (int i = 0; i < (c.isRms ? 1 : 2); ++i) {
                m_kept.add(w.allocate(NormStatistics, bytes / (c.headDim * c.element) * 4));
            }
        }
    }
    if (c.rotaryDim > 0 && !m_isCross) {
        if (!c.fusesRope) {
            // Every rotation evaluates its own cos and sin, and the products keep them (theory_dense.md rule 12).
            for (int i = 0; i < 4; ++i) {
                m_kept.add(w.allocate(RotaryTables, m_sequence * c.rotaryDim * c.element));
            }
        }
        SlotList rotated;
        rotated.add(w.allocate(RotatedQk, m_queryBytes));
        rotated.add(w.allocate(RotatedQk, m_keyBytes));
        w.freeAll(fresh);
        fresh = rotated;
    }
    m_valueIsView = fresh.size() > 0;
    m_inputs = fresh;
    m_inputs.add(projected);
}

MegatronAttention::Core MegatronAttention::core()
{
    Core result;
    result.saved = m_inputs;
    if (m_valueIsView && c.isTransformerEngine) {
        // Contiguous q and k beside a strided v match no layout, so v is copied and the packed tensor is not kept
        // (TE attention/dot_product_attention/utils.py, get_qkv_layout).
        result.saved.clear();
        result.saved.add(m_inputs[0]);
        result.saved.add(m_inputs[1]);
        for (std::size_t i = 2; i < m_inputs.size(); ++i) {
            result.held.add(m_inputs[i]);
        }
        result.saved.add(w.allocate(ValueCopy, m_keyBytes));
    }
    if (c.kernel == AttentionKernel::Flash && c.microBatch > 1) {
        Core flash = flashCore(result.saved);
        SlotList held = result.held;
        held.add(flash.held);
        flash.held = held;
        return flash;
    }
    if (c.kernel == AttentionKernel::Flash || c.kernel == AttentionKernel::Fused) {
        result.context = w.allocate(Context, m_queryBytes);
        result.saved.add(w.allocate(SoftmaxStatistics, 4 * c.microBatch * c.heads * m_sequence));
        result.saved.add(w.allocate(RandomState, 16));
        if (c.usesFp8) {
            result.saved.add(result.context);
        }
        return result;
    }
    unfusedCore(result);
    return result;
}

/// Batch-first kernels copy q, k and v, and turn their result back.
MegatronAttention::Core MegatronAttention::flashCore(const SlotList& sources)
{
    Core result;
    for (const std::int64_t bytes : {m_queryBytes, m_keyBytes, m_keyBytes}) {
        result.saved.add(w.allocate(QkvCopies, bytes));
    }
    result.saved.add(w.allocate(Context, m_queryBytes));
    result.saved.add(w.allocate(SoftmaxStatistics, 4 * c.microBatch * c.heads * m_sequence));
    result.saved.add(w.allocate(RandomState, 16));
    result.context = w.allocate(ContextCopy, m_queryBytes);
    for (const Tape::Slot slot : sources) {
        if (m_inputs.contains(slot)) {
            result.held.add(slot);
        } else {
            w.free(slot);
        }
    }
    return result;
}

void MegatronAttention::unfusedCore(Core& result)
{
    m_ops.cublas();
    SlotList masks;
    Tape::Slot empty = Tape::none;
    if (c.kernel == AttentionKernel::Unfused) {
        if (c.savesPaddingMask || m_mask == Mask::Causal) {
            const bool hasOwnMasks = m_mask == Mask::Padding || (c.hasLoaderMask && c.family == ModelFamily::Decoder);
            masks.add(w.allocate(PaddingMask, (hasOwnMasks ? c.microBatch : 1) * m_sequence * m_keySequence));
        }
        // baddbmm is handed an empty tensor and returns another.
        empty = w.allocate(AttentionScores, m_scores * c.element);
    } else {
        w.grow(globalBufferKey, GlobalBuffer, m_scores * c.element);
    }
    const std::int64_t groups = m_isCross ? c.heads : c.groups;
    if (groups != c.heads) {
        const std::int64_t bytes = c.microBatch * m_keySequence * c.heads * c.headDim * c.element;
        result.saved.add(w.allocate(RepeatedKv, bytes));
        result.saved.add(w.allocate(RepeatedKv, bytes));
    }
    const Tape::Slot raw = w.allocate(AttentionScores, m_scores * c.element);
    w.free(empty);
    const Tape::Slot transient = softmax(raw, masks, result);
    w.freeAll(masks);
    if (c.hasAttentionDropout) {
        result.saved.add(w.allocate(DropoutMask, m_scores));
        result.saved.add(w.allocate(AttentionProbabilities, m_scores * c.element));
        w.free(transient);
    } else {
        result.saved.add(transient);
    }
    const Tape::Slot batchFirst = w.allocate(Context, m_queryBytes);
    result.context = w.allocate(Context, m_queryBytes);
    w.free(batchFirst);
}

/// Returns the probabilities when they are a tensor that only a dropout would make superfluous.
Tape::Slot MegatronAttention::softmax(Tape::Slot scores, SlotList& masks, Core& result)
{
    if (c.kernel == AttentionKernel::Local && !c.fusesMaskedSoftmax) {
        // float(), scale, softmax in fp32, cast back.
        Tape::Slot wide = scores;
        for (const TensorKind kind : {AttentionScores, AttentionScores, AttentionSoftmax}) {
            const Tape::Slot next = w.allocate(kind, m_scores * 4);
            w.free(wide);
            wide = next;
        }
        result.saved.add(wide);
        return w.allocate(AttentionProbabilities, m_scores * c.element);
    }
    const Tape::Slot probabilities = w.allocate(AttentionSoftmax, m_scores * c.element);
    result.saved.add(probabilities);
    w.free(scores);
    if (m_mask == Mask::Padding && c.kernel == AttentionKernel::Unfused && c.savesPaddingMask) {
        // Rows of padding are set to zero, out of place; the mask is saved for it.
        const Tape::Slot zeroed = w.allocate(AttentionProbabilities, m_scores * c.element);
        result.saved.add(masks);
        masks.clear();
        return zeroed;
    }
    return Tape::none;
}

void MegatronAttention::backward()
{
    const std::int64_t width = c.heads * c.headDim;
    const Tape::Slot contextGradient = m_ops.rowLinearBackward(m_dropoutMask, m_context, m_tokens, m_queryBytes, width);
    SlotList saved = m_saved;
    if (c.recomputesAttention) {
        const Core again = core();
        w.free(again.context);
        saved = again.saved;
        for (const Tape::Slot slot : m_inputs) {
            if (!saved.contains(slot)) {
                saved.add(slot);
            }
        }
    }
    const Tape::Slot packedGradient = coreBackward(saved);
    w.free(contextGradient);
    w.freeAll(m_kept);
    if (m_isCross) {
        const Tape::Slot keyGradient = w.allocate(ActivationGradient, 2 * m_keyBytes);
        const auto gradients
            = m_ops.linearBackward(m_ops.streamBytes(c.microBatch * m_keySequence), 2 * width, c.hidden);
        w.free(keyGradient, gradients.input, gradients.weight);
    }
    const std::int64_t rows = (c.heads + (m_isCross ? 0 : 2 * c.groups)) * c.headDim;
    m_ops.normLinearBackward(m_norm, m_tokens, rows, packedGradient);
}

/// Returns the gradient of the packed projection (of the query projection, in cross attention).
Tape::Slot MegatronAttention::coreBackward(const SlotList& saved)
{
    const bool hasScores = c.kernel == AttentionKernel::Unfused || c.kernel == AttentionKernel::Local;
    const SlotList temporaries = hasScores ? scoresBackward() : flashBackward();
    const Tape::Slot packed = w.allocate(ActivationGradient, m_isCross ? m_queryBytes : m_queryBytes + 2 * m_keyBytes);
    w.freeAll(temporaries);
    w.freeAll(saved);
    return packed;
}

SlotList MegatronAttention::scoresBackward()
{
    m_ops.cublas();
    const std::int64_t allHeads = c.microBatch * m_keySequence * c.heads * c.headDim * c.element;
    Tape::Slot gradient = w.allocate(ScoresGradient, m_scores * c.element);
    const Tape::Slot value = w.allocate(ActivationGradient, allHeads);
    const auto chain = [&](std::int64_t bytesPerScore) {
        const Tape::Slot next = w.allocate(ScoresGradient, m_scores * bytesPerScore);
        w.free(gradient);
        gradient = next;
    };
    if (c.hasAttentionDropout) {
        chain(c.element);
    }
    if (c.kernel == AttentionKernel::Local && !c.fusesMaskedSoftmax) {
        for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{4}, std::int64_t{4}, c.element}) {
            chain(bytes); // cast, softmax, scale, cast back
        }
    }
    SlotList temporaries;
    temporaries.add(w.allocate(ActivationGradient, m_queryBytes));
    temporaries.add(w.allocate(ActivationGradient, allHeads));
    temporaries.add(value);
    w.free(gradient);
    return temporaries;
}

SlotList MegatronAttention::flashBackward()
{
    SlotList temporaries;
    for (const std::int64_t bytes : {m_queryBytes, m_keyBytes, m_keyBytes}) {
        temporaries.add(w.allocate(ActivationGradient, bytes));
    }
    // Row sums and the fp32 accumulator of dq, padded to 128 rows; FA2 makes dk and dv for all heads, FA3 sums those of
    // the groups in fp32 and has its row sums twice, once by base 2 (theory.md 5.3; hopper/flash_api.cpp, mha_bwd).
    const std::int64_t rows = c.microBatch * c.heads * ((m_sequence + 127) / 128 * 128);
    SlotList workspace;
    workspace.add(w.allocate(AttentionWorkspace, 4 * rows));
    workspace.add(w.allocate(AttentionWorkspace, 4 * rows * c.headDim));
    const bool isThird = c.kernel == AttentionKernel::Flash && c.isThirdFlash;
    if (isThird) {
        workspace.add(w.allocate(AttentionWorkspace, 4 * rows));
    }
    if (c.kernel == AttentionKernel::Flash && c.groups != c.heads && !m_isCross) {
        const std::int64_t expanded = isThird ? c.groups * 4 : c.heads * c.element;
        const std::int64_t bytes = c.microBatch * m_keySequence * c.headDim * expanded;
        workspace.add(w.allocate(AttentionWorkspace, bytes));
        workspace.add(w.allocate(AttentionWorkspace, bytes));
    }
    w.freeAll(workspace);
    return temporaries;
}

} // namespace headroom
