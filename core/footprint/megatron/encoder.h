// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/megatron/tapes.h"
#include "footprint/recipe/architecture.h"
#include "footprint/tape/program.h"

#include <cstdint>

namespace headroom {

/// An image encoder and its projector in Megatron's manner, and the chunks that run them wherever the plan places them
/// (theory.md 1.9): in front of the embedding, on pipeline stages in front of the language model's, or as a copy on
/// every stage that encodes its share of the images. The language model's shape in the program is read already.
class EncoderTapes
{
public:
    /// Its pieces, from `firstPiece` of the program on.
    enum PieceIndex : std::uint16_t {
        Patches,
        Layer,
        ReceivingLayer, ///< the first one of a stage of its own where nothing is trained
        Projection,
        PieceCount
    };

    EncoderTapes(const TrainingPlan& plan, std::uint16_t firstPiece, ModelProgram& program);

    [[nodiscard]] bool isPresent() const { return m_tower.isPresent(); }
    void writePieces();
    /// What the embedding is to do with the features.
    void feed(MegatronTapes::Embedding& words) const;
    /// The stages in front, if it has its own.
    void fillOwnStages() const;
    /// In front of the embedding in the chunk that has it; features that come from elsewhere are received.
    void addToFirst(Chunk& chunk) const;
    /// The copy of a stage of the language model, where every stage has one.
    void addCopy(StageProgram& stage) const;

private:
    [[nodiscard]] Piece& piece(PieceIndex index) const { return m_program.pieces[m_firstPiece + std::size_t{index}]; }
    [[nodiscard]] PieceRun runOf(PieceIndex index, std::int64_t count = 1) const;
    [[nodiscard]] std::int64_t streamBytes() const { return m_program.vision.boundaryBytes(); }
    /// Of a micro-batch's images, or of those that one copy encodes.
    [[nodiscard]] std::int64_t featureBytes(std::int64_t images) const;
    void addLayers(Chunk& chunk, std::int64_t count) const;
    void fillOwnStage(std::int64_t stage, Chunk& chunk) const;

    ModelProgram& m_program;
    const VisionTower m_tower;
    const Projector m_projector;
    const Trainable m_trainable;
    const std::uint16_t m_firstPiece;
    const bool m_isRecomputed;
    const std::int64_t m_tensor; ///< ranks that split it
    const std::int64_t m_stages; ///< of its own
    const std::int64_t m_copies; ///< beside one language model
    const std::int64_t m_images; ///< of a micro-batch
};

} // namespace headroom
