// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/attention.h"
#include "footprint/megatron/blocks.h"
#include "footprint/megatron/mixers.h"
#include "footprint/megatron/mlp.h"
#include "footprint/megatron/parameters.h"
#include "footprint/megatron/tapes.h"

#include <memory>

namespace headroom {

namespace {

/// Attention of a kind that is written as recorded operations; none where MegatronAttention describes it.
std::unique_ptr<RecordedBlock> recordedAttention(MegatronOps& ops)
{
    if (ops.shape.latentAttention.isPresent()) {
        return std::make_unique<MegatronLatentAttention>(ops);
    }
    if ((ops.shape.context > 1 && !ops.shape.isKwai) || ops.shape.adapters.rank > 0
        || ops.shape.hybrid.hasAttentionGate) {
        return std::make_unique<MegatronContextAttention>(ops);
    }
    return nullptr;
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
    ops.writer.beginBackward(output);
    mlp.backward();
    if (isDecoder) {
        ops.writer.free(afterCross);
        crossAttention.backward();
    }
    ops.writer.free(afterAttention);
    attention.backward();
    ops.writer.free(Tape::input);
    if (ops.delays()) {
        ops.writer.beginWeights();
        ops.writeDelayedGradients();
    }

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

void MegatronTapes::writeDecoderLayer(Piece& piece, bool hasExperts) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    MegatronAttention usual(ops, c.sequence, c.sequence, MegatronAttention::Mask::Causal, false);
    const std::unique_ptr<RecordedBlock> attention = recordedAttention(ops);
    MegatronMlp dense(ops, c.sequence);
    std::unique_ptr<RecordedBlock> recorded;
    if (hasExperts) {
        recorded = std::make_unique<MegatronExperts>(ops);
    } else if (c.adapters.rank > 0) {
        recorded = std::make_unique<MegatronDenseBlock>(ops);
    }
    const Tape::Slot afterAttention = attention ? attention->forward(Tape::input) : usual.forward();
    const Tape::Slot output = recorded ? recorded->forward(afterAttention) : dense.forward();
    ops.writer.beginBackward(output);
    if (recorded) {
        recorded->backward();
    } else {
        dense.backward();
    }
    ops.writer.free(afterAttention);
    if (attention) {
        attention->backward();
    } else {
        usual.backward();
    }
    ops.writer.free(Tape::input);
    if (ops.delays()) {
        ops.writer.beginWeights();
        if (recorded) {
            recorded->writeDelayedGradients();
        }
        ops.writeDelayedGradients();
        if (attention) {
            attention->writeDelayedGradients();
        }
    }

    piece.parameters.clear();
    piece.expertParameters.clear();
    addDecoderLayer(piece, c, hasExperts);
    if (c.adapters.rank > 0) {
        takeAdapters(piece, c, {Mixer::Attention, hasExperts ? FeedForward::Experts : FeedForward::Mlp});
    }
}

void MegatronTapes::writeHybridLayer(Piece& piece, headroom::LayerKind kind) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    // Usual attention and a dense MLP are written as elsewhere, everything else is recorded.
    std::unique_ptr<RecordedBlock> mixer
        = kind.mixer == Mixer::Attention ? recordedAttention(ops) : recordedMixer(kind.mixer, ops);
    MegatronAttention attention(ops, c.sequence, c.sequence, MegatronAttention::Mask::Causal, false);
    MegatronMlp dense(ops, c.sequence);
    std::unique_ptr<RecordedBlock> recorded;
    if (kind.feedForward == FeedForward::Experts) {
        recorded = std::make_unique<MegatronExperts>(ops);
    } else if (kind.feedForward == FeedForward::Mlp && c.adapters.rank > 0) {
        recorded = std::make_unique<MegatronDenseBlock>(ops);
    }
    const bool hasBoth = kind.halves() == 2;
    Tape::Slot stream = Tape::input;
    if (kind.mixer != Mixer::None) {
        stream = mixer ? mixer->forward(stream) : attention.forward();
    }
    const Tape::Slot between = hasBoth ? stream : Tape::none;
    if (kind.feedForward != FeedForward::None) {
        stream = recorded ? recorded->forward(stream) : dense.forward();
    }
    ops.writer.beginBackward(stream);
    if (recorded) {
        recorded->backward();
    } else if (kind.feedForward == FeedForward::Mlp) {
        dense.backward();
    }
    ops.writer.free(between);
    if (mixer) {
        mixer->backward();
    } else if (kind.mixer == Mixer::Attention) {
        attention.backward();
    }
    ops.writer.free(Tape::input);
    if (ops.delays()) {
        ops.writer.beginWeights();
        if (recorded) {
            recorded->writeDelayedGradients();
        }
        ops.writeDelayedGradients();
        if (mixer) {
            mixer->writeDelayedGradients();
        }
    }
    piece.parameters.clear();
    piece.expertParameters.clear();
    piece.matrices.clear();
    piece.expertMatrices.clear();
    addHybridLayer(piece, c, kind);
    if (c.adapters.rank > 0) {
        takeAdapters(piece, c, kind);
    }
}

} // namespace headroom
