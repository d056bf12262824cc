// SPDX-License-Identifier: GPL-3.0-or-later
//
// Embedding and output layer spread over the pipeline's stages (sail-sg/VocabularyParallelism, vocab_output.py and
// pretrain_gpt.sh; theory_frameworks.md 11).
#include "footprint/tape_megatron.h"

#include "footprint/tape_megatron_ops.h"
#include "footprint/tape_megatron_parameters.h"

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
    if (!c.isFrozen && !c.fusesWeightGradients) {
        w.free(w.allocate(WeightGradient, rows * c.hidden * c.element));
    } else if (!c.isFrozen) {
        ops.placeholder(rows, c.hidden);
    }
    w.free(logitsGradient, statesGradient);
    if (!c.isFrozen) {
        w.free(w.allocate(WeightGradient, rows * c.hidden * c.element)); // the embedding's is never fused
    }

    piece.parameters.assign(c.isTied ? 1 : 2, rows * c.hidden);
    piece.isFrozen = c.isFrozen;
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
    addNorm(piece, c, c.hidden);
}

} // namespace headroom
