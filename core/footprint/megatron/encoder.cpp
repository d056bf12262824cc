// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/encoder.h"

#include "footprint/tape/vision.h"
#include "plan/encoder_placement.h"

namespace headroom {

EncoderTapes::EncoderTapes(const TrainingPlan& plan, std::uint16_t firstPiece, ModelProgram& program)
    : m_program(program)
    , m_tower(visionTowerOf(plan))
    , m_projector(m_tower.isPresent() ? projectorOf(plan) : Projector{})
    , m_trainable(trainableOf(plan))
    , m_firstPiece(firstPiece)
    , m_isRecomputed(plan.recompute.vision.value && m_trainable.vision)
    , m_tensor(encoderTensorParallel(plan))
    , m_stages(program.shape.encoderStages)
    , m_copies(program.shape.encoderCopies)
    , m_images(program.shape.microBatch * m_tower.images)
{
}

/// What has nothing trained upstream keeps nothing.
void EncoderTapes::writePieces()
{
    PersistentStorages& persistents = m_program.persistents;
    RankShape& vision = m_program.vision;
    const std::int64_t images = (m_images + m_copies - 1) / m_copies; // the fullest copy's
    vision = visionShape(m_program.shape, m_tower, {m_tensor, images, m_trainable.vision});
    m_program.projector = projectorShape(vision, m_trainable.projector);
    const MegatronTapes tapes(vision, persistents);
    writePatches(vision, m_tower, persistents, piece(Patches));
    for (const PieceIndex layer : {Layer, ReceivingLayer}) {
        tapes.writeLayer(piece(layer), MegatronTapes::LayerKind::Causal);
    }
    writeProjector(m_program.projector, m_tower, m_projector, m_trainable.vision, persistents, piece(Projection));
    for (const PieceIndex index : {Patches, Layer, ReceivingLayer, Projection}) {
        piece(index).isFrozen = index == Projection ? !m_trainable.projector : !m_trainable.vision;
        piece(index).isOnEveryStage = m_copies > 1;
    }
    if (!m_trainable.vision) {
        piece(Patches).tape.dropBackward();
        piece(Layer).tape.dropBackward();
        piece(ReceivingLayer).tape.dropBackward(true);
        if (!m_trainable.projector) {
            piece(Projection).tape.dropBackward();
        }
    }
}

void EncoderTapes::feed(MegatronTapes::Embedding& words) const
{
    words.imageBytes = featureBytes(m_images);
    words.receivesImages = m_stages > 0 || m_copies > 1;
    // What another stage sent always wants a gradient (Megatron p2p_communication.py, requires_grad=True).
    words.trainsImages = m_trainable.vision || m_trainable.projector || m_stages > 0;
}

void EncoderTapes::fillOwnStages() const
{
    for (std::int64_t i = 0; i < m_stages; ++i) {
        StageProgram& stage = m_program.stages[static_cast<std::size_t>(i)];
        stage.stage = i;
        stage.layers = stage.firstLayer = 0; // of the language model
        stage.hasEncoder = false;
        stage.chunks.resize(1);
        fillOwnStage(i, stage.chunks.front());
    }
}

/// An even part of the layers, a rest on the first stages.
void EncoderTapes::fillOwnStage(std::int64_t stage, Chunk& chunk) const
{
    const bool isFirst = stage == 0, isLast = stage + 1 == m_stages;
    std::int64_t layers = m_tower.layers / m_stages + (stage < m_tower.layers % m_stages ? 1 : 0);
    chunk = {};
    chunk.receives = !isFirst;
    chunk.sends = true;
    chunk.receivedBytes = isFirst ? 0 : streamBytes();
    chunk.sentBytes = isLast ? featureBytes(m_images) : streamBytes();
    chunk.isFrozen = !m_trainable.vision && !(isLast && m_trainable.projector);
    if (isFirst) {
        chunk.runs.push_back(runOf(Patches));
    } else if (!m_trainable.vision) {
        chunk.runs.push_back(runOf(ReceivingLayer));
        --layers;
    }
    addLayers(chunk, layers);
    if (isLast) {
        chunk.runs.push_back(runOf(Projection));
    }
}

void EncoderTapes::addToFirst(Chunk& chunk) const
{
    if (m_stages > 0 || m_copies > 1) {
        chunk.receives = true;
        chunk.receivedBytes = featureBytes(m_images);
        return;
    }
    chunk.runs.push_back(runOf(Patches));
    addLayers(chunk, m_tower.layers);
    chunk.runs.push_back(runOf(Projection));
}

void EncoderTapes::addCopy(StageProgram& stage) const
{
    stage.hasEncoder = m_copies > 1;
    if (!stage.hasEncoder) {
        return;
    }
    Chunk& chunk = stage.chunks.emplace_back();
    chunk.sends = true;
    chunk.sentBytes = featureBytes(m_program.vision.microBatch);
    chunk.isFrozen = !m_trainable.vision && !m_trainable.projector;
    chunk.runs.push_back(runOf(Patches));
    addLayers(chunk, m_tower.layers);
    chunk.runs.push_back(runOf(Projection));
}

PieceRun EncoderTapes::runOf(PieceIndex index, std::int64_t count) const
{
    return {static_cast<std::uint16_t>(m_firstPiece + index), count, 0};
}

void EncoderTapes::addLayers(Chunk& chunk, std::int64_t count) const
{
    if (count > 0) {
        chunk.runs.push_back(runOf(Layer, count));
        chunk.runs.back().checkpointGroup = m_isRecomputed ? 1 : 0;
    }
}

std::int64_t EncoderTapes::featureBytes(std::int64_t images) const
{
    return images * m_projector.tokens * m_projector.out * mergersOf(m_projector) * m_program.shape.element;
}

} // namespace headroom
