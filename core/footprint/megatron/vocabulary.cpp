// SPDX-License-Identifier: GPL-3.0-or-later
//
// Embedding and output layer spread over the pipeline's stages (sail-sg/VocabularyParallelism, vocab_output.py and
// pretrain_gpt.sh; theory_frameworks.md 11).
#include "footprint/megatron/tapes.h"

#include "footprint/megatron/ops.h"
#include "footprint/megatron/parameters.h"

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint64_t softmaxKey = 0x766f636162, statesKey = softmaxKey + 1; // apart from the profiles' keys
constexpr std::int64_t passesUnderWay = 2; ///< micro-batches whose softmax waits for the stages to agree on its sum

} // namespace

void MegatronTapes::writeVocabularyShare(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.writer;
    const std::int64_t rows = (c.vocab + c.vocabularyShards - 1) / c.vocabularyShards;
    const std::int64_t logits = c.tokens() * rows;
    w.free(w.allocate(EmbeddingTemporary, ops.streamBytes(c.tokens()))); // zeros but for this stage's words
    w.ensureForStep(statesKey, LossTerms, passesUnderWay * ops.streamBytes(c.tokens())); // the final norm's results
    w.ensureForStep(softmaxKey, LogitsSoftmax, passesUnderWay * logits * 4);
    ops.cublas();
    w.free(w.allocate(Logits, logits * c.element));

    w.beginBackward(Tape::input); // what flows through the stage's layers does not pass here
    const Tape::Slot logitsGradient = w.allocate(LogitsGradient, logits * c.element);
    ops.cublas();
    const Tape::Slot statesGradient = w.allocate(ActivationGradient, ops.streamBytes(c.tokens()));
    if (c.trains(TrainedParts::Head) && !c.fusesWeightGradients) {
        w.free(w.allocate(WeightGradient, rows * c.hidden * c.element));
    } else if (c.trains(TrainedParts::Head)) {
        ops.placeholder(rows, c.hidden);
    }
    w.free(logitsGradient, statesGradient);
    if (c.trains(TrainedParts::Table)) {
        w.free(w.allocate(WeightGradient, rows * c.hidden * c.element)); // the embedding's is never fused
    }

    piece.parameters.clear();
    addTensor(piece, c, TrainedParts::Table, rows * c.hidden);
    if (!c.isTied) {
        addTensor(piece, c, TrainedParts::Head, rows * c.hidden);
    }
    piece.isFrozen = c.isFrozen;
}

/// A linear layer of Transformer Engine that every rank holds whole and runs on its part of the sequence, whose logits
/// are then gathered; the loss reads those of some tokens (mcore-bridge 1.6, gpt_model.py). Adapters leave it trained.
void MegatronTapes::writeClassifier(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    TapeWriter& w = ops.writer;
    const std::int64_t rows = c.localTokens();
    ops.declareStream(c.sequence);
    const MegatronOps::Norm norm = ops.norm(rows, c.hidden, false);
    ops.gemm();
    Tape::Slot logits = w.allocate(Logits, rows * c.labels * c.element);
    if (c.sequenceShards > 1) {
        const Tape::Slot all = w.allocate(Logits, c.tokens() * c.labels * c.element);
        w.free(logits);
        logits = all;
    }

    w.beginBackward(Tape::none);
    const Tape::Slot logitsGradient = w.allocate(LogitsGradient, c.tokens() * c.labels * c.element);
    w.free(logits);
    ops.gemm();
    const Tape::Slot gradient = w.allocate(ActivationGradient, ops.streamBytes(rows));
    if (c.leavesOut(TrainedParts::Head)) {
        // frozen by its name
    } else if (c.fusesWeightGradients) {
        ops.placeholder(c.labels, c.hidden);
    } else {
        w.free(w.allocate(WeightGradient, c.labels * c.hidden * c.element));
    }
    w.free(logitsGradient, norm.output);
    w.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(rows));
    w.free(gradient, Tape::input);
    w.freeAll(norm.statistics);

    piece.parameters.clear();
    addNorm(piece, c, c.hidden, TrainedParts::FinalNorm);
    if (c.isFrozen) {
        piece.frozenParameters.swap(piece.parameters);
    }
    addTensor(piece, c, TrainedParts::Head, c.labels * c.hidden);
}

void MegatronTapes::writeFinalNorm(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    const MegatronOps::Norm norm = ops.norm(c.localTokens(), c.hidden, false);
    ops.writer.beginBackward(Tape::none);
    ops.writer.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(c.localTokens()));
    ops.writer.free(Tape::input, norm.output);
    ops.writer.freeAll(norm.statistics);
    piece.parameters.clear();
    addNorm(piece, c, c.hidden, TrainedParts::FinalNorm);
}

} // namespace headroom
