// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_mlp.h"

namespace headroom {

using enum TensorKind;

MegatronMlp::MegatronMlp(MegatronOps& ops, std::int64_t sequence)
    : m_ops(ops)
    , w(ops.w)
    , c(ops.c)
    , m_tokens(c.microBatch * sequence)
    , m_fc1Bytes(m_tokens * c.gates * c.ffn * c.element)
    , m_activationBytes(m_tokens * c.ffn * c.element)
{
}

Tape::Slot MegatronMlp::forward()
{
    const Tape::Slot output = branch();
    if (c.recomputesMlp) {
        dropBranch();
    }
    const auto [stream, mask] = m_ops.addResidual(output, m_tokens / c.sequenceShards);
    m_dropoutMask = mask;
    return stream;
}

void MegatronMlp::backward()
{
    if (c.recomputesMlp) {
        w.free(branch());
    }
    const Tape::Slot activationGradient
        = m_ops.rowLinearBackward(m_dropoutMask, m_activation, m_tokens, m_activationBytes, c.ffn);
    const Tape::Slot fc1Gradient = w.allocate(ActivationGradient, m_fc1Bytes);
    w.free(activationGradient, m_fc1);
    m_ops.normLinearBackward(m_norm, m_tokens, c.gates * c.ffn, fc1Gradient);
}

Tape::Slot MegatronMlp::branch()
{
    m_norm = m_ops.norm(m_tokens / c.sequenceShards, c.hidden, true);
    const Tape::Slot gathered = m_ops.gatherInput(m_tokens);
    m_fc1 = m_ops.linear(Fc1Output, m_fc1Bytes);
    w.free(gathered);
    m_ops.dropInput(m_norm.output);
    m_activation = w.allocate(ActivationOutput, m_activationBytes);
    if (c.isSquaredRelu) {
        // pow keeps relu(x); the product before it is not needed (theory_dense.md rule 21).
        const Tape::Slot positive = w.allocate(Fc1Output, m_fc1Bytes);
        w.free(m_fc1);
        m_fc1 = positive;
    }
    m_activation = m_ops.quantised(m_activation, m_tokens * c.ffn);
    const Tape::Slot product = m_ops.linear(PartialOutput, m_ops.streamBytes(m_tokens));
    m_ops.dropInput(m_activation);
    return m_ops.scatter(product, PartialOutput, m_tokens);
}

void MegatronMlp::dropBranch()
{
    w.free(m_norm.output, m_fc1, m_activation);
    w.freeAll(m_norm.statistics);
}

} // namespace headroom
