// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/attention.h"

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint32_t projection = TrainedParts::Query | TrainedParts::Key | TrainedParts::Value; // one weight

} // namespace

MegatronAttention::MegatronAttention(MegatronOps& ops, std::int64_t sequence, std::int64_t keySequence, Mask mask,
                                     bool isCross)
    : m_ops(ops)
    , m_writer(ops.writer)
    , m_shape(ops.shape)
    , m_sequence(sequence)
    , m_keySequence(keySequence)
    , m_mask(mask)
    , m_isCross(isCross)
    , m_tokens(m_shape.microBatch * sequence)
    , m_localTokens(m_tokens / m_shape.sequenceShards)
    , m_queryBytes(m_tokens * m_shape.heads * m_shape.headDim * m_shape.element)
    , m_keyBytes(m_shape.microBatch * keySequence * (isCross ? m_shape.heads : m_shape.groups) * m_shape.headDim
                 * m_shape.element)
    , m_scores(m_shape.microBatch * m_shape.heads * sequence * keySequence)
{
}

Tape::Slot MegatronAttention::forward()
{
    m_norm = m_ops.norm(m_localTokens, m_shape.hidden, true);
    const Tape::Slot gathered = m_ops.gatherInput(m_tokens);
    SlotList projected;
    if (m_isCross) {
        projected.add(m_ops.linear(QueryProjection, m_queryBytes, m_shape.hasQkvBias));
        projected.add(m_ops.linear(KeyValueProjection, 2 * m_keyBytes, m_shape.hasQkvBias));
    } else {
        projected.add(m_ops.linear(Qkv, m_queryBytes + 2 * m_keyBytes, m_shape.hasQkvBias));
    }
    m_writer.free(gathered);
    m_ops.dropInput(m_norm.output, projection);
    if (m_ops.dropsNorm()) {
        m_writer.free(m_norm.output);
        m_norm.output = Tape::none;
    }
    prepare(projected);
    Core result = core();
    if (m_shape.recomputesAttention) {
        // Only what core attention reads survives; its result goes on to the projection.
        for (const Tape::Slot slot : result.saved) {
            if (!m_inputs.contains(slot) && slot != result.context) {
                m_writer.free(slot);
            }
        }
        result.saved = m_inputs;
        result.held.clear();
    }
    m_saved = result.saved;
    dropRotated();
    m_context
        = m_ops.quantised(result.context, m_tokens * m_shape.heads * m_shape.headDim, m_saved.contains(result.context));
    const Tape::Slot product = m_ops.linear(PartialOutput, m_ops.streamBytes(m_tokens));
    const Tape::Slot output = m_ops.scatter(product, PartialOutput, m_tokens);
    // Kernels that read their result in backward keep it themselves: flash its own copy when it turned the layout.
    const bool isKernels = m_shape.kernel == AttentionKernel::Fused
        || (m_shape.kernel == AttentionKernel::Flash && m_shape.microBatch == 1);
    if (!isKernels && !m_saved.contains(m_context)) {
        m_ops.dropInput(m_context, TrainedParts::Output);
    }
    m_writer.freeAll(result.held);
    const auto [stream, mask] = m_ops.addResidual(output, m_localTokens);
    m_dropoutMask = mask;
    return stream;
}

/// Megatron-Kwai rotates again where it rebuilds norms.
void MegatronAttention::dropRotated()
{
    if (!rotatesAgain()) {
        return;
    }
    SlotList others;
    for (std::size_t i = 0; i < m_saved.size(); ++i) {
        if (i < 2) {
            m_writer.free(m_saved[i]);
        } else {
            others.add(m_saved[i]);
        }
    }
    m_saved = others;
}

void MegatronAttention::rotateAgain(SlotList& saved)
{
    if (rotatesAgain()) {
        saved.add(m_writer.allocate(RotatedQk, m_queryBytes));
        saved.add(m_writer.allocate(RotatedQk, m_keyBytes));
    }
}

/// q/k norms and rotary positions make new, contiguous q and k.
void MegatronAttention::prepare(const SlotList& projected)
{
    SlotList fresh;
    if (m_shape.hasQkNorm && !m_isCross) {
        for (const std::int64_t bytes : {m_queryBytes, m_keyBytes}) {
            m_kept.add(m_writer.allocate(QkNormInput, bytes));
            fresh.add(m_writer.allocate(QkNormOutput, bytes));
            for (int i = 0; i < (m_shape.isRms ? 1 : 2); ++i) {
                m_kept.add(m_writer.allocate(NormStatistics, bytes / (m_shape.headDim * m_shape.element) * 4));
            }
        }
    }
    if (m_shape.rotaryDim > 0 && !m_isCross) {
        if (!m_shape.fusesRope) {
            // Every rotation evaluates its own cos and sin, and the products keep them (theory_dense.md rule 12).
            for (int i = 0; i < 4; ++i) {
                m_kept.add(m_writer.allocate(RotaryTables, m_sequence * m_shape.rotaryDim * m_shape.element));
            }
        }
        SlotList rotated;
        rotated.add(m_writer.allocate(RotatedQk, m_queryBytes));
        rotated.add(m_writer.allocate(RotatedQk, m_keyBytes));
        m_writer.freeAll(fresh);
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
    if (m_valueIsView && m_shape.isTransformerEngine && !m_shape.isKwai) {
        // Contiguous q and k beside a strided v match no layout, so v is copied and the packed tensor is not kept
        // (TE attention/dot_product_attention/utils.py, get_qkv_layout).
        result.saved.clear();
        result.saved.add(m_inputs[0]);
        result.saved.add(m_inputs[1]);
        for (std::size_t i = 2; i < m_inputs.size(); ++i) {
            result.held.add(m_inputs[i]);
        }
        result.saved.add(m_writer.allocate(ValueCopy, m_keyBytes));
    }
    if (m_shape.kernel == AttentionKernel::Flash && m_shape.microBatch > 1) {
        Core flash = flashCore(result.saved);
        SlotList held = result.held;
        held.add(flash.held);
        flash.held = held;
        return flash;
    }
    if (m_shape.kernel == AttentionKernel::Flash || m_shape.kernel == AttentionKernel::Fused) {
        result.context = m_writer.allocate(Context, m_queryBytes);
        result.saved.add(m_writer.allocate(SoftmaxStatistics, 4 * m_shape.microBatch * m_shape.heads * m_sequence));
        result.saved.add(m_writer.allocate(RandomState, 16));
        if (m_shape.usesFp8) {
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
        result.saved.add(m_writer.allocate(QkvCopies, bytes));
    }
    result.saved.add(m_writer.allocate(Context, m_queryBytes));
    result.saved.add(m_writer.allocate(SoftmaxStatistics, 4 * m_shape.microBatch * m_shape.heads * m_sequence));
    result.saved.add(m_writer.allocate(RandomState, 16));
    result.context = m_writer.allocate(ContextCopy, m_queryBytes);
    for (const Tape::Slot slot : sources) {
        if (m_inputs.contains(slot)) {
            result.held.add(slot);
        } else {
            m_writer.free(slot);
        }
    }
    return result;
}

void MegatronAttention::unfusedCore(Core& result)
{
    m_ops.cublas();
    SlotList masks;
    Tape::Slot empty = Tape::none;
    if (m_shape.kernel == AttentionKernel::Unfused) {
        if (m_shape.savesPaddingMask || m_mask == Mask::Causal) {
            const bool hasOwnMasks
                = m_mask == Mask::Padding || (m_shape.hasLoaderMask && m_shape.family == ModelFamily::Decoder);
            masks.add(
                m_writer.allocate(PaddingMask, (hasOwnMasks ? m_shape.microBatch : 1) * m_sequence * m_keySequence));
        }
        // baddbmm is handed an empty tensor and returns another.
        empty = m_writer.allocate(AttentionScores, m_scores * m_shape.element);
    } else {
        m_writer.grow(GlobalBufferKey, GlobalBuffer, m_scores * m_shape.element);
    }
    const std::int64_t groups = m_isCross ? m_shape.heads : m_shape.groups;
    if (groups != m_shape.heads) {
        const std::int64_t bytes
            = m_shape.microBatch * m_keySequence * m_shape.heads * m_shape.headDim * m_shape.element;
        result.saved.add(m_writer.allocate(RepeatedKv, bytes));
        result.saved.add(m_writer.allocate(RepeatedKv, bytes));
    }
    const Tape::Slot raw = m_writer.allocate(AttentionScores, m_scores * m_shape.element);
    m_writer.free(empty);
    const Tape::Slot transient = softmax(raw, masks, result);
    m_writer.freeAll(masks);
    if (m_shape.hasAttentionDropout) {
        result.saved.add(m_writer.allocate(DropoutMask, m_scores));
        result.saved.add(m_writer.allocate(AttentionProbabilities, m_scores * m_shape.element));
        m_writer.free(transient);
    } else {
        result.saved.add(transient);
    }
    const Tape::Slot batchFirst = m_writer.allocate(Context, m_queryBytes);
    result.context = m_writer.allocate(Context, m_queryBytes);
    m_writer.free(batchFirst);
}

/// Transformer Engine's kernel takes lengths that are multiples of 8 below 16384, and heads of a micro-batch by four
/// (softmax.py, is_kernel_available).
bool MegatronAttention::isSoftmaxEager() const
{
    if (m_shape.kernel == AttentionKernel::Local) {
        return !m_shape.fusesMaskedSoftmax;
    }
    constexpr std::int64_t longest = 16384;
    const bool hasKernel = m_keySequence % 8 == 0 && m_keySequence < longest && m_sequence % 4 == 0
        && m_shape.microBatch * m_shape.heads % 4 == 0;
    return m_shape.element == 2 && !hasKernel;
}

/// Returns the probabilities when they are a tensor that only a dropout would make superfluous.
Tape::Slot MegatronAttention::softmax(Tape::Slot scores, SlotList& masks, Core& result)
{
    if (isSoftmaxEager()) {
        return eagerSoftmax(scores, result);
    }
    const Tape::Slot probabilities = m_writer.allocate(AttentionSoftmax, m_scores * m_shape.element);
    result.saved.add(probabilities);
    m_writer.free(scores);
    if (m_mask == Mask::Padding && m_shape.kernel == AttentionKernel::Unfused && m_shape.savesPaddingMask) {
        // Rows of padding are set to zero, out of place; the mask is saved for it.
        const Tape::Slot zeroed = m_writer.allocate(AttentionProbabilities, m_scores * m_shape.element);
        result.saved.add(masks);
        masks.clear();
        return zeroed;
    }
    return Tape::none;
}

/// In fp32 and cast back: both are kept.
Tape::Slot MegatronAttention::eagerSoftmax(Tape::Slot scores, Core& result)
{
    SlotList held; // Transformer Engine's variables hold all of them to the end (softmax.py, forward_torch_softmax)
    Tape::Slot wide = scores;
    for (const TensorKind kind : {AttentionScores, AttentionScores, AttentionSoftmax}) { // float(), scale or mask
        const Tape::Slot next = m_writer.allocate(kind, m_scores * 4);
        if (m_shape.kernel == AttentionKernel::Unfused) {
            held.add(wide);
        } else {
            m_writer.free(wide);
        }
        wide = next;
    }
    result.saved.add(wide);
    const Tape::Slot probabilities = m_writer.allocate(AttentionProbabilities, m_scores * m_shape.element);
    m_writer.freeAll(held);
    return probabilities;
}

void MegatronAttention::backward()
{
    const std::int64_t width = m_shape.heads * m_shape.headDim;
    const Tape::Slot contextGradient
        = m_ops.rowLinearBackward(m_dropoutMask, m_context, m_tokens, m_queryBytes, width, TrainedParts::Output);
    SlotList saved = m_saved;
    if (m_shape.recomputesAttention) {
        const Core again = core();
        saved = again.saved;
        if (!saved.contains(again.context)) {
            m_writer.free(again.context);
        }
        for (const Tape::Slot slot : m_inputs) {
            if (!saved.contains(slot)) {
                saved.add(slot);
            }
        }
    }
    rotateAgain(saved);
    const Tape::Slot packedGradient = coreBackward(saved);
    m_writer.free(contextGradient);
    m_writer.freeAll(m_kept);
    if (m_isCross) {
        const Tape::Slot keyGradient = m_writer.allocate(ActivationGradient, 2 * m_keyBytes);
        const auto gradients
            = m_ops.linearBackward(m_ops.streamBytes(m_shape.microBatch * m_keySequence), 2 * width, m_shape.hidden);
        m_writer.free(keyGradient, gradients.input, gradients.weight);
    }
    if (m_ops.dropsNorm() && m_shape.trains(projection)) {
        m_norm.output = m_ops.normOutput(m_localTokens, m_shape.hidden, true);
    }
    const std::int64_t rows = (m_shape.heads + (m_isCross ? 0 : 2 * m_shape.groups)) * m_shape.headDim;
    m_ops.normLinearBackward(m_norm, m_tokens, rows, packedGradient, projection);
}

/// Returns the gradient of the packed projection (of the query projection, in cross attention).
Tape::Slot MegatronAttention::coreBackward(const SlotList& saved)
{
    const bool hasScores = m_shape.kernel == AttentionKernel::Unfused || m_shape.kernel == AttentionKernel::Local;
    const SlotList temporaries = hasScores ? scoresBackward() : flashBackward();
    const Tape::Slot packed
        = m_writer.allocate(ActivationGradient, m_isCross ? m_queryBytes : m_queryBytes + 2 * m_keyBytes);
    m_writer.freeAll(temporaries);
    m_writer.freeAll(saved);
    return packed;
}

SlotList MegatronAttention::scoresBackward()
{
    m_ops.cublas();
    const std::int64_t allHeads
        = m_shape.microBatch * m_keySequence * m_shape.heads * m_shape.headDim * m_shape.element;
    Tape::Slot gradient = m_writer.allocate(ScoresGradient, m_scores * m_shape.element);
    const Tape::Slot value = m_writer.allocate(ActivationGradient, allHeads);
    const auto chain = [&](std::int64_t bytesPerScore) {
        const Tape::Slot next = m_writer.allocate(ScoresGradient, m_scores * bytesPerScore);
        m_writer.free(gradient);
        gradient = next;
    };
    if (m_shape.hasAttentionDropout) {
        chain(m_shape.element);
    }
    if (isSoftmaxEager()) {
        for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{4}, std::int64_t{4}, m_shape.element}) {
            chain(bytes); // cast, softmax, scale, cast back
        }
    }
    SlotList temporaries;
    temporaries.add(m_writer.allocate(ActivationGradient, m_queryBytes));
    temporaries.add(m_writer.allocate(ActivationGradient, allHeads));
    temporaries.add(value);
    m_writer.free(gradient);
    return temporaries;
}

SlotList MegatronAttention::flashBackward()
{
    SlotList temporaries;
    for (const std::int64_t bytes : {m_queryBytes, m_keyBytes, m_keyBytes}) {
        temporaries.add(m_writer.allocate(ActivationGradient, bytes));
    }
    // Row sums and the fp32 accumulator of dq, padded to 128 rows; FA2 makes dk and dv for all heads, FA3 sums those of
    // the groups in fp32 and has its row sums twice, once by base 2 (theory.md 5.3; hopper/flash_api.cpp, mha_bwd).
    const std::int64_t rows = m_shape.microBatch * m_shape.heads * ((m_sequence + 127) / 128 * 128);
    SlotList workspace;
    workspace.add(m_writer.allocate(AttentionWorkspace, 4 * rows));
    workspace.add(m_writer.allocate(AttentionWorkspace, 4 * rows * m_shape.headDim));
    const bool isThird = m_shape.kernel == AttentionKernel::Flash && m_shape.isThirdFlash;
    if (isThird) {
        workspace.add(m_writer.allocate(AttentionWorkspace, 4 * rows));
    }
    if (m_shape.kernel == AttentionKernel::Flash && m_shape.groups != m_shape.heads && !m_isCross) {
        const std::int64_t expanded = isThird ? m_shape.groups * 4 : m_shape.heads * m_shape.element;
        const std::int64_t bytes = m_shape.microBatch * m_keySequence * m_shape.headDim * expanded;
        workspace.add(m_writer.allocate(AttentionWorkspace, bytes));
        workspace.add(m_writer.allocate(AttentionWorkspace, bytes));
    }
    m_writer.freeAll(workspace);
    return temporaries;
}

} // namespace headroom
