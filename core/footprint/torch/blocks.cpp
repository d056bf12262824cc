// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/blocks.h"

#include "footprint/torch/mixers.h"

#include <algorithm>

namespace headroom {

namespace {

std::int64_t firstTrainedLayer(const TrainedParts& parts)
{
    const std::vector<std::uint32_t>& layers = parts.layers;
    return std::find_if(layers.begin(), layers.end(), [](std::uint32_t trained) { return trained != 0; })
        - layers.begin();
}

} // namespace

TorchBlocks::TorchBlocks(const TorchShape& shape, Pieces uniform, ModelProgram& program)
    : m_shape(shape)
    , m_uniform(uniform)
    , m_firstTrained(firstTrainedLayer(shape.parts))
    , m_program(program)
{
}

void TorchBlocks::writePieces()
{
    if (!areUniform()) {
        return; // they are written where they stand
    }
    PersistentStorages& persistents = m_program.persistents;
    writeTorchBlock(m_shape, false, persistents, m_program.pieces[m_uniform.dense], attendAcross());
    if (m_shape.model.isMoe()) {
        writeTorchBlock(m_shape, true, persistents, m_program.pieces[m_uniform.experts]);
    }
}

void TorchBlocks::add(const TorchChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
{
    const std::int64_t recomputed = m_shape.recomputedOf(layers.count);
    chunk.isFrozen = layers.isFirst && !m_shape.reachesEmbedding();
    for (std::int64_t i = 0; i < layers.count; ++i) {
        const std::int64_t layer = layers.first + i;
        Kind kind;
        kind.layer = layerKind(layer);
        kind.needsGradient = !layers.isFirst || needsGradient(layer);
        kind.trained = m_shape.parts.of(layer);
        const std::uint16_t piece = pieceOf(kind);
        const bool isRecomputed = i < recomputed && kind.hasBackward();
        chunk.isFrozen &= !kind.hasBackward();
        if (PieceRun* last = chunk.runs.empty() ? nullptr : &chunk.runs.back();
            last != nullptr && last->piece == piece && (last->checkpointGroup > 0) == isRecomputed) {
            ++last->count;
            ++parts.back().count;
            continue;
        }
        PieceRun run{piece, 1, isRecomputed ? 1 : 0};
        run.offloadsInput = isRecomputed && m_shape.offloadsInputs;
        chunk.runs.push_back(run);
        parts.push_back({weightsOf(kind.layer), 1, m_shape.trainsModel, true, false, kind.trained});
    }
    chunk.isFrozen &= !layers.isLast;
}

LayerKind TorchBlocks::layerKind(std::int64_t layer) const
{
    if (m_shape.model.isHybrid()) {
        return m_shape.model.kinds[static_cast<std::size_t>(layer)];
    }
    const bool hasExperts = m_shape.model.moeLayers(layer, 1) > 0;
    return {Mixer::Attention, hasExperts ? FeedForward::Experts : FeedForward::Mlp};
}

std::uint16_t TorchBlocks::pieceOf(Kind kind)
{
    const bool hasExperts = kind.layer.feedForward == FeedForward::Experts;
    if (areUniform()) {
        return hasExperts ? m_uniform.experts : m_uniform.dense;
    }
    const auto known
        = std::find_if(m_kinds.begin(), m_kinds.end(), [&kind](const Kind& other) { return other.isOf(kind); });
    if (known != m_kinds.end()) {
        return known->piece;
    }
    kind.piece = static_cast<std::uint16_t>(m_program.pieces.size());
    m_kinds.push_back(kind);
    TorchShape shape = m_shape;
    shape.trained = kind.trained;
    Piece& piece = m_program.pieces.emplace_back();
    if (shape.model.isHybrid()) {
        writeTorchKind(shape, kind.layer, m_program.persistents, piece);
    } else {
        writeTorchBlock(shape, hasExperts, m_program.persistents, piece, false, kind.needsGradient);
    }
    return kind.piece;
}

TorchWeights TorchBlocks::weightsOf(const LayerKind& kind) const
{
    return m_shape.model.isHybrid() ? kindWeights(m_shape, kind)
                                    : blockWeights(m_shape, kind.feedForward == FeedForward::Experts, attendAcross());
}

} // namespace headroom
