// SPDX-License-Identifier: GPL-3.0-or-later
// An image encoder of PyTorch frameworks and the chunks that run it.
#pragma once

#include "footprint/torch/tapes.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// The encoder and its projector wherever the plan places them (theory.md 1.9): in front of the embedding, on pipeline
/// stages in front of the language model's, or as a copy on every stage that encodes its share of the images.
class TorchEncoder
{
public:
    /// Its pieces, from `firstPiece` of the program on.
    enum PieceIndex : std::uint16_t {
        Patches,
        Block,
        ReceivingBlock, ///< the first one of a stage of its own where nothing is trained
        Projection,
        PieceCount
    };

    TorchEncoder(const TrainingPlan& plan, const TorchShape& language, std::uint16_t firstPiece, ModelProgram& program);

    [[nodiscard]] bool isPresent() const { return m_tower.isPresent(); }
    [[nodiscard]] bool hasCopies() const { return m_language.encoderCopies > 1; }
    void writePieces();
    /// Of a micro-batch's features, as the language model reads them; 0 without an encoder.
    [[nodiscard]] std::int64_t featureBytes() const;

    /// The one on stage `stage` of its own.
    void fillOwnStage(std::int64_t stage, Chunk& chunk, std::vector<TorchPart>& parts) const;
    /// In front of the embedding in the chunk that has it; features that come from elsewhere are received.
    void addToFirst(Chunk& chunk, std::vector<TorchPart>& parts) const;
    /// The copy of a stage of the language model, where every stage has one.
    void fillCopy(Chunk& chunk, std::vector<TorchPart>& parts) const;

private:
    [[nodiscard]] PieceRun runOf(PieceIndex index) const
    {
        return {static_cast<std::uint16_t>(m_firstPiece + index), 1, 0};
    }
    void addPatches(Chunk& chunk, std::vector<TorchPart>& parts) const;
    void addBlocks(std::int64_t count, bool isReceiving, Chunk& chunk, std::vector<TorchPart>& parts) const;
    void addProjection(Chunk& chunk, std::vector<TorchPart>& parts) const;
    void addAll(Chunk& chunk, std::vector<TorchPart>& parts) const;

    const TorchShape& m_language;
    ModelProgram& m_program;
    const VisionTower m_tower;
    const Projector m_projector;
    const Trainable m_trainable;
    const std::uint16_t m_firstPiece;
    const std::int64_t m_images; ///< of a micro-batch
    TorchShape m_shape; ///< of the images that one copy encodes
};

} // namespace headroom
