// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/megatron/ops.h"

namespace headroom {

/// Norm, fc1, activation, fc2, residual add.
class MegatronMlp
{
public:
    MegatronMlp(MegatronOps& ops, std::int64_t sequence);

    /// Hands out the new residual stream.
    Tape::Slot forward();
    void backward();

private:
    Tape::Slot branch();
    void dropBranch();
    /// The activation alone is made again (Megatron-Kwai's and mixtures' selective recomputation).
    [[nodiscard]] bool dropsActivation() const
    {
        return m_shape.recomputesActivation && !m_shape.recomputesMlp && !m_shape.usesFp8;
    }

    MegatronOps& m_ops;
    TapeWriter& m_writer;
    const RankShape& m_shape;
    const std::int64_t m_tokens, m_fc1Bytes, m_activationBytes;
    MegatronOps::Norm m_norm;
    Tape::Slot m_fc1 = Tape::none, m_activation = Tape::none, m_dropoutMask = Tape::none;
};

} // namespace headroom
