// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/encoder.h"

#include "footprint/torch/vision.h"

namespace headroom {

TorchEncoder::TorchEncoder(const TrainingPlan& plan, const TorchShape& language, std::uint16_t firstPiece,
                           ModelProgram& program)
    : m_language(language)
    , m_program(program)
    , m_tower(visionTowerOf(plan))
    , m_projector(projectorOf(plan))
    , m_trainable(trainableOf(plan))
    , m_firstPiece(firstPiece)
    , m_images(language.sequences * m_tower.images)
{
    if (isPresent()) {
        const std::int64_t copies = language.encoderCopies;
        m_shape = torchVisionShape(language, m_tower, (m_images + copies - 1) / copies, m_trainable.vision);
    }
}

/// What has nothing trained upstream keeps nothing.
void TorchEncoder::writePieces()
{
    auto* pieces = &m_program.pieces[m_firstPiece];
    PersistentStorages& persistents = m_program.persistents;
    TorchShape projector = m_shape;
    projector.trainsModel = m_trainable.projector;
    writeTorchPatches(m_shape, m_tower, persistents, pieces[Patches]);
    for (const PieceIndex block : {Block, ReceivingBlock}) {
        writeTorchBlock(m_shape, LayerKind{}, persistents, pieces[block]);
    }
    writeTorchProjector(projector, m_tower, m_projector, m_trainable.vision, persistents, pieces[Projection]);
    if (!m_trainable.vision) {
        pieces[Patches].tape.dropBackward();
        pieces[Block].tape.dropBackward();
        pieces[ReceivingBlock].tape.dropBackward(true);
        if (!m_trainable.projector) {
            pieces[Projection].tape.dropBackward();
        }
    }
}

std::int64_t TorchEncoder::featureBytes() const
{
    return isPresent() ? torchFeatureBytes(m_images, m_projector, m_language.compute) : 0;
}

/// An even part of the layers, a rest on the first stages.
void TorchEncoder::fillOwnStage(std::int64_t stage, Chunk& chunk, std::vector<TorchPart>& parts) const
{
    const std::int64_t stages = m_language.encoderStages;
    const bool isFirst = stage == 0, isLast = stage + 1 == stages;
    chunk.receives = !isFirst;
    chunk.sends = true;
    chunk.receivedBytes = isFirst ? 0 : m_shape.streamBytes();
    chunk.sentBytes = isLast ? featureBytes() : m_shape.streamBytes();
    chunk.isFrozen = !m_trainable.vision && !(isLast && m_trainable.projector);
    if (isFirst) {
        addPatches(chunk, parts);
    }
    addBlocks(m_tower.layers / stages + (stage < m_tower.layers % stages ? 1 : 0), !isFirst, chunk, parts);
    if (isLast) {
        addProjection(chunk, parts);
    }
}

void TorchEncoder::addToFirst(Chunk& chunk, std::vector<TorchPart>& parts) const
{
    if (m_language.encoderStages > 0 || hasCopies()) {
        chunk.receives = true;
        chunk.receivedBytes = featureBytes();
    } else if (isPresent()) {
        addAll(chunk, parts);
    }
}

void TorchEncoder::fillCopy(Chunk& chunk, std::vector<TorchPart>& parts) const
{
    chunk.sends = true;
    chunk.sentBytes = torchFeatureBytes(m_shape.sequences, m_projector, m_language.compute);
    chunk.isFrozen = !m_trainable.vision && !m_trainable.projector;
    addAll(chunk, parts);
}

void TorchEncoder::addPatches(Chunk& chunk, std::vector<TorchPart>& parts) const
{
    chunk.runs.push_back(runOf(Patches));
    parts.push_back({patchWeights(m_tower), 1, m_trainable.vision});
}

/// `isReceiving`: the first one's input is another stage's, which a frozen encoder leaves alone.
void TorchEncoder::addBlocks(std::int64_t count, bool isReceiving, Chunk& chunk, std::vector<TorchPart>& parts) const
{
    parts.push_back({blockWeights(m_shape, LayerKind{}), count, m_trainable.vision});
    if (isReceiving && !m_trainable.vision) {
        chunk.runs.push_back(runOf(ReceivingBlock));
        --count;
    }
    if (count > 0) {
        PieceRun run = runOf(Block);
        run.count = count;
        run.checkpointGroup = m_shape.checkpoints ? 1 : 0;
        chunk.runs.push_back(run);
    }
}

void TorchEncoder::addProjection(Chunk& chunk, std::vector<TorchPart>& parts) const
{
    chunk.runs.push_back(runOf(Projection));
    parts.push_back({projectorWeights(m_tower, m_projector), 1, m_trainable.projector});
}

void TorchEncoder::addAll(Chunk& chunk, std::vector<TorchPart>& parts) const
{
    addPatches(chunk, parts);
    addBlocks(m_tower.layers, false, chunk, parts);
    addProjection(chunk, parts);
}

} // namespace headroom
