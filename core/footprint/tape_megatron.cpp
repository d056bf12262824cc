// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron.h"

#include "footprint/tape_megatron_attention.h"

namespace headroom {

using enum TensorKind;

namespace {

/// Norm, fc1, activation, fc2, residual add.
class MegatronMlp
{
public:
    MegatronMlp(MegatronOps& ops, std::int64_t sequence)
        : m_ops(ops)
        , w(ops.w)
        , c(ops.c)
        , m_tokens(c.microBatch * sequence)
        , m_fc1Bytes(m_tokens * c.gates * c.ffn * c.element)
        , m_activationBytes(m_tokens * c.ffn * c.element)
    {
    }

    Tape::Slot forward()
    {
        const Tape::Slot output = branch();
        if (c.recomputesMlp) {
            dropBranch();
        }
        const auto [stream, mask] = m_ops.addResidual(output, m_tokens / c.sequenceShards);
        m_dropoutMask = mask;
        return stream;
    }

    void backward()
    {
        if (c.recomputesMlp) {
            w.free(branch());
        }
        const Tape::Slot activationGradient
            = m_ops.rowLinearBackward(m_dropoutMask, m_activation, m_tokens, m_activationBytes, c.ffn);
        const Tape::Slot fc1Gradient = w.allocate(ActivationGradient, m_fc1Bytes);
        w.free(activationGradient, m_fc1);
        m_ops.normLinearBackward(m_norm, m_tokens, c.gates * c.ffn, fc1Gradient);
    }

private:
    Tape::Slot branch()
    {
        m_norm = m_ops.norm(m_tokens / c.sequenceShards, c.hidden, true);
        const Tape::Slot gathered = c.isTransformerEngine ? m_ops.gather(m_tokens) : Tape::none;
        m_fc1 = m_ops.linear(Fc1Output, m_fc1Bytes);
        w.free(gathered);
        m_ops.dropInput(m_norm.output);
        m_activation = w.allocate(ActivationOutput, m_activationBytes);
        if (c.isSquaredRelu) {
            // pow keeps relu(x); the product before it is not needed (theory_dense.md rule 21).
            const Tape::Slot positive = w.allocate(Fc1Output, m_fc1Bytes);
            w.free(m_fc1);
            m_fc1 = positive;
        }
        m_activation = m_ops.quantised(m_activation, m_tokens * c.ffn);
        const Tape::Slot product = m_ops.linear(PartialOutput, m_ops.streamBytes(m_tokens));
        m_ops.dropInput(m_activation);
        return m_ops.scatter(product, PartialOutput, m_tokens);
    }

    void dropBranch()
    {
        w.free(m_norm.output, m_fc1, m_activation);
        w.freeAll(m_norm.statistics);
    }

    MegatronOps& m_ops;
    TapeWriter& w;
    const RankShape& c;
    const std::int64_t m_tokens, m_fc1Bytes, m_activationBytes;
    MegatronOps::Norm m_norm;
    Tape::Slot m_fc1 = Tape::none, m_activation = Tape::none, m_dropoutMask = Tape::none;
};

void addNorm(Piece& piece, const RankShape& c, std::int64_t width)
{
    piece.parameters.push_back(width);
    if (!c.isRms) {
        piece.parameters.push_back(width);
    }
}

/// In the order in which the modules register them: output projection before the projections (theory_dense.md rule 9).
void addAttention(Piece& piece, const RankShape& c, bool isCross)
{
    const std::int64_t width = c.heads * c.headDim;
    const std::int64_t queryRows = isCross ? width : (c.heads + 2 * c.groups) * c.headDim;
    piece.parameters.push_back(width * c.hidden);
    if (c.hasAttentionOutputBias) {
        piece.parameters.push_back(c.hidden);
    }
    piece.parameters.push_back(queryRows * c.hidden);
    if (c.hasQkvBias) {
        piece.parameters.push_back(queryRows);
    }
    if (isCross) {
        piece.parameters.push_back(2 * width * c.hidden);
        if (c.hasQkvBias) {
            piece.parameters.push_back(2 * width);
        }
    }
    if (c.hasQkNorm) {
        addNorm(piece, c, c.headDim);
        addNorm(piece, c, c.headDim);
    }
}

void addMlp(Piece& piece, const RankShape& c)
{
    piece.parameters.push_back(c.gates * c.ffn * c.hidden);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.gates * c.ffn);
    }
    piece.parameters.push_back(c.ffn * c.hidden);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.hidden);
    }
}

void addHead(Piece& piece, const RankShape& c, bool hasOwnWeight)
{
    addNorm(piece, c, c.hidden);
    if (c.family == ModelFamily::Bert) {
        piece.parameters.insert(piece.parameters.end(), {c.hidden * c.hidden, c.hidden});
        addNorm(piece, c, c.hidden);
    }
    if (hasOwnWeight) {
        piece.parameters.push_back(c.vocab * c.hidden);
    }
    if (c.family != ModelFamily::Decoder) {
        piece.parameters.push_back(c.vocab);
    }
    if (c.family == ModelFamily::Bert && c.hasBinaryHead) {
        piece.parameters.insert(piece.parameters.end(), {2 * c.hidden, 2, c.hidden * c.hidden, c.hidden});
    }
}

} // namespace

void MegatronTapes::writeLayer(Piece& piece, LayerKind kind) const
{
    const RankShape& c = m_shape;
    const bool isDecoder = kind == LayerKind::CrossAttending;
    const std::int64_t sequence = isDecoder ? c.decoderSequence : c.sequence;
    const auto mask = kind == LayerKind::Encoder ? MegatronAttention::Mask::Padding : MegatronAttention::Mask::Causal;

    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(sequence);
    MegatronAttention attention(ops, sequence, sequence, mask, false);
    MegatronAttention crossAttention(ops, sequence, c.sequence, MegatronAttention::Mask::Padding, true);
    MegatronMlp mlp(ops, sequence);
    const Tape::Slot afterAttention = attention.forward();
    const Tape::Slot afterCross = isDecoder ? crossAttention.forward() : Tape::none;
    const Tape::Slot output = mlp.forward();
    ops.w.beginBackward(output);
    mlp.backward();
    if (isDecoder) {
        ops.w.free(afterCross);
        crossAttention.backward();
    }
    ops.w.free(afterAttention);
    attention.backward();
    ops.w.free(Tape::input);

    piece.parameters.clear();
    addNorm(piece, c, c.hidden);
    addAttention(piece, c, false);
    addNorm(piece, c, c.hidden);
    if (isDecoder) {
        addAttention(piece, c, true);
        addNorm(piece, c, c.hidden);
    }
    addMlp(piece, c);
}

void MegatronTapes::writeEmbedding(Piece& piece, const Embedding& embedding) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.w;
    const std::int64_t rows = c.microBatch * embedding.sequence;
    const std::int64_t localRows = rows / c.sequenceShards;
    const std::int64_t bytes = ops.streamBytes(rows);
    ops.declareStream(embedding.sequence);
    w.declare(Tape::input, ResidualStream, embedding.imageBytes);
    if (embedding.endsTiedGradient) {
        w.declare(Tape::carried, WeightGradient, c.vocab * c.hidden * c.element);
    }

    Tape::Slot words = w.allocate(EmbeddingTemporary, bytes);
    if (c.hasLearnedPositions) {
        const Tape::Slot positions = w.allocate(EmbeddingTemporary, bytes);
        const Tape::Slot sum = w.allocate(EmbeddingTemporary, bytes);
        w.free(words, positions);
        words = sum;
    }
    if (embedding.imageBytes > 0) {
        const Tape::Slot combined = w.allocate(EmbeddingTemporary, bytes);
        w.free(words, Tape::input);
        piece.tape.consumesInput = true;
        words = combined;
    }
    const bool isStream = c.sequenceShards == 1 && !c.hasHiddenDropout;
    Tape::Slot stream = w.allocate(isStream ? ResidualStream : EmbeddingTemporary, bytes); // [b, s, h] to [s, b, h]
    Tape::Slot full = Tape::none;
    if (c.sequenceShards > 1) {
        full = stream; // this rank's slice is cloned
        stream = w.allocate(c.hasHiddenDropout ? EmbeddingTemporary : ResidualStream, ops.streamBytes(localRows));
    }
    Tape::Slot mask = Tape::none;
    if (c.hasHiddenDropout) {
        const Tape::Slot dropped = w.allocate(ResidualStream, ops.streamBytes(localRows));
        mask = w.allocate(DropoutMask, localRows * c.hidden);
        w.free(stream);
        stream = dropped;
    }
    w.free(full, words);

    w.beginBackward(stream);
    const Tape::Slot gradient = w.allocate(ActivationGradient, bytes);
    w.free(mask);
    if (!c.isFrozen) {
        w.free(w.allocate(WeightGradient, c.vocab * c.hidden * c.element)); // never fused
    }
    w.free(embedding.endsTiedGradient ? Tape::carried : Tape::none);
    const Tape::Slot images
        = embedding.trainsImages ? w.allocate(ActivationGradient, embedding.imageBytes) : Tape::none;
    w.free(gradient, Tape::gradient);
    if (embedding.trainsImages) {
        w.allocateInto(Tape::gradient, ActivationGradient, embedding.imageBytes);
        w.free(images);
    }

    piece.parameters.clear();
    if (embedding.hasParameters) {
        piece.parameters.push_back(c.vocab * c.hidden);
        if (c.hasLearnedPositions) {
            piece.parameters.push_back(c.positions * c.hidden);
        }
        if (c.family == ModelFamily::Bert && c.hasBinaryHead) {
            piece.parameters.push_back(2 * c.hidden); // token types
        }
    }
}

void MegatronTapes::writeEncoderNorm(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    const std::int64_t rows = c.localTokens();
    ops.declareStream(c.sequence);
    const MegatronOps::Norm norm = ops.norm(rows, c.hidden, false);
    ops.w.beginBackward(norm.output);
    ops.w.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(rows));
    ops.w.free(Tape::input, norm.output);
    ops.w.freeAll(norm.statistics);
    piece.parameters.clear();
    addNorm(piece, c, c.hidden);
}

void MegatronTapes::writeHead(Piece& piece, std::int64_t sequence, bool hasOwnWeight) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.w;
    const std::int64_t tokens = c.microBatch * sequence;
    const std::int64_t rows = tokens / c.sequenceShards;
    const std::int64_t logitCount = tokens * c.vocab;
    ops.declareStream(sequence);

    MegatronOps::Norm norm = ops.norm(rows, c.hidden, false);
    SlotList states;
    if (c.family == ModelFamily::Bert) {
        ops.cublas();
        states.add(w.allocate(HeadStates, ops.streamBytes(rows))); // dense
        states.add(w.allocate(HeadStates, ops.streamBytes(rows))); // gelu
        const MegatronOps::Norm second = ops.norm(rows, c.hidden, false);
        states.add(second.output);
        states.add(second.statistics);
    }
    if (c.sequenceShards > 1) {
        w.grow(globalBufferKey, GlobalBuffer, ops.streamBytes(tokens));
    }
    ops.cublas();
    Tape::Slot logits = w.allocate(Logits, logitCount * c.element);
    ops.dropInput(norm.output);
    if (c.family != ModelFamily::Decoder) {
        const Tape::Slot biased = w.allocate(Logits, logitCount * c.element); // the bias is added out of place
        w.free(logits);
        logits = biased;
    }
    Tape::Slot softmax = logits;
    if (c.element < 4 && c.fusedLoss != FusedLoss::InPlace) {
        softmax = w.allocate(LogitsSoftmax, logitCount * 4);
    }
    if (c.fusedLoss == FusedLoss::Native) {
        // Compiled, the in-place exponential becomes a new fp32 tensor (fusions/fused_cross_entropy.py).
        const Tape::Slot exponential = w.allocate(LogitsSoftmax, logitCount * 4);
        w.free(softmax == logits ? Tape::none : softmax);
        softmax = exponential;
    }
    SlotList terms;
    for (int i = 0; i < 3; ++i) {
        terms.add(w.allocate(LossTerms, tokens * 8));
    }
    w.free(softmax == logits ? Tape::none : logits);

    w.beginBackward(Tape::none);
    Tape::Slot logitsGradient = softmax;
    if (softmax != logits) {
        logitsGradient = w.allocate(LogitsGradient, logitCount * c.element);
        w.free(softmax);
    }
    w.freeAll(terms);
    ops.cublas();
    Tape::Slot gradient = w.allocate(ActivationGradient, ops.streamBytes(tokens));
    Tape::Slot weight = Tape::none;
    const bool waitsForEmbedding = c.isTied && !hasOwnWeight; // both gradients of a tied matrix are added there
    if (c.isFrozen) {
        // no gradient of the output layer's weight
    } else if (!c.fusesWeightGradients) {
        const std::int64_t bytes = c.vocab * c.hidden * c.element;
        weight = waitsForEmbedding ? w.allocateInto(Tape::carried, WeightGradient, bytes)
                                   : w.allocate(WeightGradient, bytes);
    } else {
        ops.placeholder(c.vocab, c.hidden);
    }
    gradient = ops.scatter(gradient, ActivationGradient, tokens);
    const bool isDeferred = c.deferredWgrads >= 0 && !c.isFrozen;
    if (isDeferred) {
        w.defer(logitsGradient); // kept for the weight gradient at the end of the step
    } else {
        w.free(logitsGradient);
    }
    w.free(waitsForEmbedding ? Tape::none : weight);
    w.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(rows));
    w.free(gradient);
    if (isDeferred) {
        w.defer(norm.output);
    } else {
        w.free(norm.output);
    }
    w.freeAll(norm.statistics);
    w.freeAll(states);
    w.free(Tape::input);

    piece.parameters.clear();
    addHead(piece, c, hasOwnWeight);
}

} // namespace headroom
