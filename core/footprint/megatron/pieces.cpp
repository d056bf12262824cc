// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/pieces.h"

#include "footprint/schedule/order.h"
#include "footprint/tape/graph_inputs.h"

#include <algorithm>

namespace headroom {

MegatronPieces::MegatronPieces(ModelProgram& program)
    : m_program(program)
    , m_shape(program.shape)
{
}

void MegatronPieces::write(EncoderTapes& encoder, bool predictsApart)
{
    m_program.persistents.all.clear();
    makeRoom(encoder.isPresent(), predictsApart);
    auto& pieces = m_program.pieces;
    const bool waitsForWords = !ownsHead() && m_shape.languageStages() == 1 && m_shape.predictors == 0
        && !m_shape.fusesWeightGradients && m_shape.trains(TrainedParts::Table);
    MegatronTapes::Embedding words{m_shape.sequence, true, waitsForWords, 0, false, false};
    if (encoder.isPresent()) {
        encoder.writePieces();
        encoder.feed(words);
    }
    const MegatronTapes tapes(m_shape, m_program.persistents);
    tapes.writeEmbedding(pieces[Embedding], words);
    writeLayers(tapes);
    writeHead(tapes, pieces[Head]);
    if (predictsApart) {
        tapes.writeDecoderNorm(pieces[decoderNorm()]);
        tapes.writePredictions(pieces[predictions()]);
    }
    if (m_shape.graphs.isOn) {
        recordPieces();
    }
    if (m_vocabulary > 0) {
        spreadVocabulary();
    }
    if (splitsBackward(m_shape.schedule)) {
        splitBackwards();
    }
    freeze();
}

void MegatronPieces::makeRoom(bool hasEncoder, bool predictsApart)
{
    auto& pieces = m_program.pieces;
    const std::size_t decoders = m_shape.experts.isPresent() ? DecoderEmbedding : EncoderNorm;
    const std::size_t count = m_shape.family == ModelFamily::T5 ? std::size_t{ImageEncoder} : decoders;
    pieces.resize(hasEncoder ? ImageEncoder + std::size_t{EncoderTapes::PieceCount} : count);
    if (m_shape.vocabularyShards > 1) {
        m_vocabulary = static_cast<std::uint16_t>(pieces.size());
        pieces.emplace_back();
    }
    if (predictsApart) {
        m_decoderNorm = static_cast<std::uint16_t>(pieces.size());
        pieces.resize(pieces.size() + 2);
    }
}

void MegatronPieces::writeLayers(const MegatronTapes& tapes)
{
    auto& pieces = m_program.pieces;
    if (m_shape.hybrid.isPresent() || !m_shape.parts.isAll()) {
        pieces[Layer] = {};
        writeKinds();
        return;
    }
    if (m_shape.family == ModelFamily::Decoder) {
        tapes.writeDecoderLayer(pieces[Layer], false);
    } else {
        tapes.writeLayer(pieces[Layer], MegatronTapes::LayerKind::Encoder);
    }
    if (m_shape.experts.isPresent()) {
        tapes.writeDecoderLayer(pieces[ExpertLayer], true);
    }
    if (m_shape.family == ModelFamily::T5) {
        tapes.writeEncoderNorm(pieces[EncoderNorm]);
        tapes.writeEmbedding(pieces[DecoderEmbedding], {m_shape.decoderSequence, false, false, 0, false, false});
        tapes.writeLayer(pieces[DecoderLayer], MegatronTapes::LayerKind::CrossAttending);
    }
}

MegatronPieces::Kind MegatronPieces::kindOf(std::int64_t layer) const
{
    const FeedForward usual = m_shape.experts.hasLayer(layer) ? FeedForward::Experts : FeedForward::Mlp;
    return {m_shape.hybrid.isPresent() ? m_shape.hybrid.layers[static_cast<std::size_t>(layer)]
                                       : LayerKind{Mixer::Attention, usual},
            m_shape.parts.of(layer)};
}

void MegatronPieces::writeKind(const Kind& kind, const RankShape& shape, Piece& piece)
{
    RankShape own = shape;
    own.trained = kind.trained;
    const MegatronTapes tapes(own, m_program.persistents);
    if (m_shape.hybrid.isPresent()) {
        tapes.writeHybridLayer(piece, kind.layer);
    } else {
        tapes.writeDecoderLayer(piece, kind.layer.feedForward == FeedForward::Experts);
    }
}

/// A piece for every kind of layer, behind all others.
void MegatronPieces::writeKinds()
{
    auto& pieces = m_program.pieces;
    if (m_shape.experts.isPresent()) {
        pieces[ExpertLayer] = {};
    }
    m_firstKind = pieces.size();
    const std::int64_t layers
        = m_shape.hybrid.isPresent() ? static_cast<std::int64_t>(m_shape.hybrid.layers.size()) : m_shape.layers;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const Kind kind = kindOf(layer);
        if (std::find(m_kinds.begin(), m_kinds.end(), kind) == m_kinds.end()) {
            m_kinds.push_back(kind);
            writeKind(kind, m_shape, pieces.emplace_back());
        }
    }
}

void MegatronPieces::writeHead(const MegatronTapes& tapes, Piece& piece) const
{
    if (m_shape.labels > 0) {
        tapes.writeClassifier(piece);
    } else if (m_decoderNorm > 0) {
        tapes.writePredictedHead(piece, ownsHead());
    } else if (m_shape.predictors > 0) {
        const bool ownsWords = !isTogether();
        tapes.writePredictingHead(piece, ownsHead() && !(m_shape.isTied && ownsWords), ownsWords);
    } else {
        const bool isT5 = m_shape.family == ModelFamily::T5;
        tapes.writeHead(piece, isT5 ? m_shape.decoderSequence : m_shape.sequence, ownsHead());
    }
}

/// Layers within predictions too; hybrids' predictions are stacks, which are not recorded.
void MegatronPieces::recordPieces()
{
    auto& pieces = m_program.pieces;
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        recordGraphs(m_shape, m_kinds[i].layer, 1, pieces[m_firstKind + i]);
    }
    if (m_shape.hybrid.isPresent()) {
        return;
    }
    constexpr LayerKind dense{Mixer::Attention, FeedForward::Mlp}, expert{Mixer::Attention, FeedForward::Experts};
    if (m_kinds.empty()) {
        recordGraphs(m_shape, dense, 1, pieces[Layer]);
    }
    if (m_kinds.empty() && m_shape.experts.isPresent()) {
        recordGraphs(m_shape, expert, 1, pieces[ExpertLayer]);
    }
    const bool predictsByExperts = m_shape.experts.hasLayer(m_shape.layers - 1);
    const std::uint16_t predicting = m_decoderNorm > 0 ? predictions() : std::uint16_t{Head};
    recordGraphs(m_shape, predictsByExperts ? expert : dense, m_shape.predictors, pieces[predicting]);
}

/// Of the embedding the positions stay on the first stage, of the head the norm on the last one.
void MegatronPieces::spreadVocabulary()
{
    auto& pieces = m_program.pieces;
    RankShape ends = m_shape;
    ends.vocab = 0;
    pieces[Embedding] = pieces[Head] = {};
    MegatronTapes(ends, m_program.persistents).writeEmbedding(pieces[Embedding], {ends.sequence});
    std::erase(pieces[Embedding].parameters, 0);
    std::erase(pieces[Embedding].frozenParameters, 0);
    const MegatronTapes tapes(m_shape, m_program.persistents);
    tapes.writeFinalNorm(pieces[Head]);
    tapes.writeVocabularyShare(pieces[m_vocabulary]);
}

/// Layers and head once more with the weights' gradients apart; the others compute theirs in the backward.
void MegatronPieces::splitBackwards()
{
    RankShape shape = m_shape;
    shape.delaysWeightGradients = true;
    const MegatronTapes tapes(shape, m_program.persistents);
    auto& pieces = m_program.pieces;
    for (Piece& piece : pieces) {
        piece.tape.inputBackward = piece.tape.backward;
        piece.tape.inputBackwardNeeds = piece.tape.backwardNeeds;
    }
    Piece split;
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        writeKind(m_kinds[i], shape, split);
        pieces[m_firstKind + i].tape.takeSplitBackward(split.tape);
    }
    if (m_kinds.empty()) {
        if (m_shape.family == ModelFamily::Decoder) {
            tapes.writeDecoderLayer(split, false);
        } else {
            tapes.writeLayer(split, MegatronTapes::LayerKind::Encoder);
        }
        pieces[Layer].tape.takeSplitBackward(split.tape);
        if (m_shape.experts.isPresent()) {
            tapes.writeDecoderLayer(split, true);
            pieces[ExpertLayer].tape.takeSplitBackward(split.tape);
        }
    }
    writeHead(tapes, split);
    pieces[Head].tape.takeSplitBackward(split.tape);
}

/// The language model's pieces; those of an image encoder know for themselves.
void MegatronPieces::freeze()
{
    auto& pieces = m_program.pieces;
    const auto freezeOne
        = [this](Piece& piece) { piece.isFrozen = m_shape.isFrozen && piece.frozenParameters.empty(); };
    for (std::size_t i = 0; i < std::min<std::size_t>(pieces.size(), ImageEncoder); ++i) {
        freezeOne(pieces[i]);
    }
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        freezeOne(pieces[m_firstKind + i]);
    }
}

std::uint16_t MegatronPieces::ofLayer(std::int64_t layer) const
{
    if (m_kinds.empty()) {
        return m_shape.experts.hasLayer(layer) ? ExpertLayer : Layer;
    }
    const auto kind = std::find(m_kinds.begin(), m_kinds.end(), kindOf(layer));
    return static_cast<std::uint16_t>(m_firstKind + static_cast<std::size_t>(kind - m_kinds.begin()));
}

std::vector<LayerPiece> MegatronPieces::layers() const
{
    std::vector<LayerPiece> pieces;
    if (m_kinds.empty()) {
        pieces.push_back({Layer, false});
    }
    if (m_shape.experts.isPresent() && m_kinds.empty()) {
        pieces.push_back({ExpertLayer, true});
    }
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        pieces.push_back(
            {static_cast<std::uint16_t>(m_firstKind + i), m_kinds[i].layer.feedForward == FeedForward::Experts});
    }
    return pieces;
}

/// Embedding and head are on the same GPU, so that a tied matrix, or that of predictions, stands once.
bool MegatronPieces::isTogether() const
{
    return m_shape.languageStages() == 1 || isFolded(m_shape.schedule) || layerCopies(m_shape.schedule) > 1;
}

} // namespace headroom
