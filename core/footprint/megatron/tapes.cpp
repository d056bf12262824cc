// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/tapes.h"

#include "footprint/megatron/ops.h"
#include "footprint/megatron/parameters.h"

namespace headroom {

using enum TensorKind;

void MegatronTapes::writeEmbedding(Piece& piece, const Embedding& embedding) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.writer;
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
        w.free(words, embedding.receivesImages ? Tape::none : Tape::input);
        piece.tape.consumesInput = !embedding.receivesImages;
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
    if (c.trains(TrainedParts::Table)) {
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
    w.free(embedding.receivesImages ? Tape::input : Tape::none);

    piece.parameters.clear();
    if (embedding.hasParameters) {
        addTensor(piece, c, TrainedParts::Table, c.vocab * c.hidden);
        if (c.hasLearnedPositions) {
            addTensor(piece, c, TrainedParts::Table, c.positions * c.hidden);
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
    ops.writer.beginBackward(norm.output);
    ops.writer.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(rows));
    ops.writer.free(Tape::input, norm.output);
    ops.writer.freeAll(norm.statistics);
    piece.parameters.clear();
    addNorm(piece, c, c.hidden);
}

void MegatronTapes::writeHead(Piece& piece, std::int64_t sequence, bool hasOwnWeight) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.writer;
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
        w.grow(GlobalBufferKey, GlobalBuffer, ops.streamBytes(tokens));
    }
    ops.cublas();
    Tape::Slot logits = w.allocate(Logits, logitCount * c.element);
    ops.dropInput(norm.output, TrainedParts::Head);
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
    // Both gradients of a tied matrix are added where the embedding's is made.
    const bool waitsForEmbedding = c.isTied && !hasOwnWeight && c.languageStages() == 1;
    if (!c.trains(TrainedParts::Head) || ops.delays()) {
        // no gradient of the output layer's weight, or one that comes later
    } else if (!c.fusesWeightGradients) {
        const std::int64_t bytes = c.vocab * c.hidden * c.element;
        weight = waitsForEmbedding ? w.allocateInto(Tape::carried, WeightGradient, bytes)
                                   : w.allocate(WeightGradient, bytes);
    } else {
        ops.placeholder(c.vocab, c.hidden);
    }
    gradient = ops.scatter(gradient, ActivationGradient, tokens);
    const bool isDelayed = ops.delays(TrainedParts::Head);
    const bool isDeferred = c.deferredWgrads >= 0 && c.trains(TrainedParts::Head) && !isDelayed;
    if (isDelayed) {
        // The output layer's gradient is computed with the others.
    } else if (isDeferred) {
        w.defer(logitsGradient); // kept for the weight gradient at the end of the step
    } else {
        w.free(logitsGradient);
    }
    w.free(waitsForEmbedding ? Tape::none : weight);
    w.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(rows));
    w.free(gradient);
    if (isDeferred) {
        w.defer(norm.output);
    } else if (!isDelayed) {
        w.free(norm.output);
    }
    w.freeAll(norm.statistics);
    w.freeAll(states);
    w.free(Tape::input);
    if (isDelayed) {
        w.beginWeights();
        ops.delayedGradient(c.vocab, c.hidden, c.sequenceShards > 1 ? ops.streamBytes(tokens) : 0);
        w.free(logitsGradient, norm.output);
    }

    piece.parameters.clear();
    addHead(piece, c, hasOwnWeight);
}

} // namespace headroom
