// SPDX-License-Identifier: GPL-3.0-or-later
// The models beside the policy that PPO trains, and what generating its responses takes (arXiv:1707.06347).
#pragma once

#include "footprint/torch/blocks.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// A model like the policy with one number a token in the place of the output layer: the value model, the reward model
/// (transformers' ...ForSequenceClassification, which TRL takes for both).
class TorchValueModel
{
public:
    enum PieceIndex : std::uint16_t { Embedding, Block, ExpertBlock, Score, PieceCount };

    /// `firstPiece`: of PieceCount.
    TorchValueModel(const TorchShape& policy, std::uint16_t firstPiece, ModelProgram& program);

    void writePieces();
    /// In front of the policy, whose loss reads the values: its backward comes last (TRL's PolicyAndValueWrapper).
    void addTo(Chunk& chunk, std::vector<TorchPart>& parts);
    [[nodiscard]] std::vector<TorchPart> partsOf(TorchPart::Model model);
    /// State of one that steps alone, whose step takes no more than the policy's.
    void addState(StageTensors& tensors);

private:
    const TorchShape m_shape;
    ModelProgram& m_program;
    TorchBlocks m_blocks;
    const std::uint16_t m_firstPiece;
};

/// Storages that are alive together when most is, where the length of the responses is known.
[[nodiscard]] std::vector<Tape::Event> torchRollout(const TrainingPlan& plan, const TorchShape& policy);

} // namespace headroom
