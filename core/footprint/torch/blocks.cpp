// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/blocks.h"

#include "footprint/torch/modules.h"

#include <algorithm>

namespace headroom {

namespace {

std::int64_t firstTrainedLayer(const TrainedParts& parts)
{
    const std::vector<std::uint32_t>& layers = parts.layers;
    return std::find_if(layers.begin(), layers.end(), [](std::uint32_t trained) { return trained != 0; })
        - layers.begin();
}

/// Of FSDP what is gathered next is that of the largest neighbour that a layer of this kind has anywhere.
void setNeighbours(const TorchShape& shape, LayerKind kind, ModuleGraph::Options& options)
{
    const std::vector<LayerKind>& kinds = shape.model.kinds;
    if (options.precedingBuffer == 0 || kinds.empty()) {
        return;
    }
    const auto neighbourOf = [&shape](LayerKind other) {
        ModuleGraph::Options neighbour;
        setTorchGathered(shape, blockWeights(shape, other, shape.memoryTokens > 0), neighbour);
        return neighbour;
    };
    std::vector<LayerKind> behind, inFront;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto note = [&](std::vector<LayerKind>& known, std::size_t neighbour) {
            if (neighbour < kinds.size() && std::find(known.begin(), known.end(), kinds[neighbour]) == known.end()) {
                known.push_back(kinds[neighbour]);
            }
        };
        if (kinds[i] == kind) {
            note(behind, i + 1);
            note(inFront, i - 1);
        }
    }
    options.followingBuffer = options.precedingBuffer = 0;
    for (const LayerKind other : behind) {
        options.followingBuffer = std::max(options.followingBuffer, neighbourOf(other).followingBuffer);
    }
    for (const LayerKind other : inFront) {
        options.precedingBuffer = std::max(options.precedingBuffer, neighbourOf(other).precedingBuffer);
    }
}

} // namespace

void writeTorchBlock(const TorchShape& shape, LayerKind kind, PersistentStorages& persistents, Piece& piece,
                     bool attendsAcross, bool needsGradient)
{
    ModuleGraph graph(shape.streamBytes(), needsGradient);
    TorchModules(shape, graph).block(graph.input(), kind, attendsAcross);
    const TorchWeights weights = blockWeights(shape, kind, attendsAcross);
    ModuleGraph::Options options = torchBlockOptions(shape, weights);
    setNeighbours(shape, kind, options);
    writeTorchTape(shape, graph, options, persistents, piece.tape);
    fillTorchParameters(weights, piece);
    const bool trains = shape.trainsModel && (shape.trained & ~TrainedParts::outsideBlocks) != 0;
    if (!needsGradient && !trains && shape.adapters.rank == 0) {
        piece.tape.dropBackward();
    }
}

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
    writeTorchBlock(m_shape, LayerKind{}, persistents, m_program.pieces[m_uniform.dense], attendAcross());
    if (m_shape.model.isMoe()) {
        writeTorchBlock(m_shape, {Mixer::Attention, FeedForward::Experts}, persistents,
                        m_program.pieces[m_uniform.experts]);
    }
}

void TorchBlocks::add(const TorchChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts)
{
    const std::int64_t recomputed = m_shape.recomputedOf(layers.count);
    chunk.isFrozen = layers.isFirst && !m_shape.reachesEmbedding();
    for (std::int64_t i = 0; i < layers.count; ++i) {
        const std::int64_t layer = layers.first + i;
        Kind kind;
        kind.layer = m_shape.model.kindOf(layer);
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
        parts.push_back(
            {blockWeights(m_shape, kind.layer, attendAcross()), 1, m_shape.trainsModel, true, false, kind.trained});
    }
    chunk.isFrozen &= !layers.isLast;
}

std::uint16_t TorchBlocks::pieceOf(Kind kind)
{
    if (areUniform()) {
        return kind.layer.feedForward == FeedForward::Experts ? m_uniform.experts : m_uniform.dense;
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
    writeTorchBlock(shape, kind.layer, m_program.persistents, piece, attendAcross(), kind.needsGradient);
    return kind.piece;
}

} // namespace headroom
