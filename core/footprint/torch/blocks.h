// SPDX-License-Identifier: GPL-3.0-or-later
// The language model's blocks in programs of PyTorch frameworks.
#pragma once

#include "footprint/torch/tapes.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// Layers of a pipeline stage's chunk.
struct TorchChunkLayers
{
    std::int64_t first = 0, count = 0;
    bool isFirst = false, isLast = false;
};

/// The pieces of the blocks, and what of them a chunk runs. Blocks of the same kind have one piece: with or without
/// experts, of a hybrid one for every mixer, and where parts are frozen one for all that are trained alike.
class TorchBlocks
{
public:
    /// Where in the program blocks stand that differ in nothing else; others come behind all of its pieces.
    struct Pieces
    {
        std::uint16_t dense = 0, experts = 0;
    };

    TorchBlocks(const TorchShape& shape, Pieces uniform, ModelProgram& program);

    void writePieces();
    /// Whether anything in front of a layer is trained.
    [[nodiscard]] bool needsGradient(std::int64_t layer) const
    {
        return m_shape.reachesEmbedding() || layer > m_firstTrained;
    }
    /// Runs of layers of one kind, of which the first so many are recomputed. What keeps nothing is not: a checkpoint
    /// without a gradient to come stores no input (torch/utils/checkpoint.py).
    void add(const TorchChunkLayers& layers, Chunk& chunk, std::vector<TorchPart>& parts);

private:
    struct Kind
    {
        LayerKind layer;
        bool needsGradient = false;
        std::uint32_t trained = TrainedParts::all;
        std::uint16_t piece = 0;

        [[nodiscard]] bool isOf(const Kind& other) const
        {
            return layer == other.layer && needsGradient == other.needsGradient && trained == other.trained;
        }
        /// What it runs or keeps.
        [[nodiscard]] bool hasBackward() const { return needsGradient || trained != 0; }
    };

    [[nodiscard]] bool areUniform() const { return m_shape.parts.isAll() && !m_shape.model.isHybrid(); }
    [[nodiscard]] bool attendAcross() const { return m_shape.memoryTokens > 0; }
    [[nodiscard]] std::uint16_t pieceOf(Kind kind);

    const TorchShape& m_shape;
    const Pieces m_uniform;
    const std::int64_t m_firstTrained; ///< layer, where parts are frozen
    ModelProgram& m_program;
    std::vector<Kind> m_kinds; ///< where blocks are not uniform
};

} // namespace headroom
