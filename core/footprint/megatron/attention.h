// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/megatron/ops.h"

namespace headroom {

/// One attention block: norm, projections, core attention, output projection, residual add.
class MegatronAttention
{
public:
    enum class Mask : std::uint8_t { Causal, Padding };

    /// `isCross`: keys and values come from another stream of `keySequence` tokens a sample.
    MegatronAttention(MegatronOps& ops, std::int64_t sequence, std::int64_t keySequence, Mask mask, bool isCross);

    /// Hands out the new residual stream.
    Tape::Slot forward();
    void backward();

private:
    /// What core attention read and what it left behind.
    struct Core
    {
        Tape::Slot context = Tape::none;
        SlotList saved;
        SlotList held; ///< only the caller's variables keep these alive, until the module returns
    };

    void prepare(const SlotList& projected);
    void dropRotated();
    void rotateAgain(SlotList& saved);
    [[nodiscard]] bool rotatesAgain() const
    {
        return m_ops.dropsNorm() && m_shape.rotaryDim > 0 && !m_isCross && !m_shape.recomputesAttention;
    }
    Core core();
    Core flashCore(const SlotList& sources);
    void unfusedCore(Core& result);
    [[nodiscard]] bool isSoftmaxEager() const;
    Tape::Slot eagerSoftmax(Tape::Slot scores, Core& result);
    Tape::Slot softmax(Tape::Slot scores, SlotList& masks, Core& result);
    Tape::Slot coreBackward(const SlotList& saved);
    SlotList scoresBackward();
    SlotList flashBackward();

    MegatronOps& m_ops;
    TapeWriter& m_writer;
    const RankShape& m_shape;
    const std::int64_t m_sequence, m_keySequence;
    const Mask m_mask;
    const bool m_isCross;
    const std::int64_t m_tokens, m_localTokens, m_queryBytes, m_keyBytes, m_scores;

    SlotList m_inputs; ///< tensors that q, k and v live in
    bool m_valueIsView = false; ///< q and k are tensors of their own, v still lies in the packed one
    MegatronOps::Norm m_norm;
    SlotList m_kept; ///< of q/k norms and rotary positions
    SlotList m_saved; ///< of core attention
    Tape::Slot m_context = Tape::none, m_dropoutMask = Tape::none;
};

} // namespace headroom
