// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/mlp.h"

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint32_t first = TrainedParts::Gate | TrainedParts::Up; // one weight

} // namespace

MegatronMlp::MegatronMlp(MegatronOps& ops, std::int64_t sequence)
    : m_ops(ops)
    , m_writer(ops.writer)
    , m_shape(ops.shape)
    , m_tokens(m_shape.microBatch * sequence)
    , m_fc1Bytes(m_tokens * m_shape.gates * m_shape.ffn * m_shape.element)
    , m_activationBytes(m_tokens * m_shape.ffn * m_shape.element)
{
}

Tape::Slot MegatronMlp::forward()
{
    const Tape::Slot output = branch();
    if (m_shape.recomputesMlp) {
        dropBranch();
    }
    const auto [stream, mask] = m_ops.addResidual(output, m_tokens / m_shape.sequenceShards);
    m_dropoutMask = mask;
    return stream;
}

void MegatronMlp::backward()
{
    if (m_shape.recomputesMlp) {
        m_writer.free(branch());
    }
    // A frozen linear layer keeps no input.
    if (dropsActivation() && m_shape.trains(TrainedParts::Down)) {
        m_activation = m_writer.allocate(ActivationOutput, m_activationBytes);
    }
    const Tape::Slot activationGradient = m_ops.rowLinearBackward(m_dropoutMask, m_activation, m_tokens,
                                                                  m_activationBytes, m_shape.ffn, TrainedParts::Down);
    const Tape::Slot fc1Gradient = m_writer.allocate(ActivationGradient, m_fc1Bytes);
    m_writer.free(activationGradient, m_fc1);
    if (m_ops.dropsNorm() && m_shape.trains(first)) {
        m_norm.output = m_ops.normOutput(m_tokens / m_shape.sequenceShards, m_shape.hidden, true);
    }
    m_ops.normLinearBackward(m_norm, m_tokens, m_shape.gates * m_shape.ffn, fc1Gradient, first);
}

Tape::Slot MegatronMlp::branch()
{
    m_norm = m_ops.norm(m_tokens / m_shape.sequenceShards, m_shape.hidden, true);
    const Tape::Slot gathered = m_ops.gatherInput(m_tokens);
    m_fc1 = m_ops.linear(Fc1Output, m_fc1Bytes);
    m_writer.free(gathered);
    m_ops.dropInput(m_norm.output, first);
    if (m_ops.dropsNorm() && !m_shape.recomputesMlp) {
        m_writer.free(m_norm.output);
        m_norm.output = Tape::none;
    }
    m_activation = m_writer.allocate(ActivationOutput, m_activationBytes);
    if (m_shape.isSquaredRelu) {
        // pow keeps relu(x); the product before it is not needed (theory_dense.md rule 21).
        const Tape::Slot positive = m_writer.allocate(Fc1Output, m_fc1Bytes);
        m_writer.free(m_fc1);
        m_fc1 = positive;
    }
    m_activation = m_ops.quantised(m_activation, m_tokens * m_shape.ffn);
    const Tape::Slot product = m_ops.linear(PartialOutput, m_ops.streamBytes(m_tokens));
    m_ops.dropInput(m_activation, TrainedParts::Down);
    if (dropsActivation()) {
        m_writer.free(m_activation);
        m_activation = Tape::none;
    }
    return m_ops.scatter(product, PartialOutput, m_tokens);
}

void MegatronMlp::dropBranch()
{
    m_writer.free(m_norm.output, m_fc1, m_activation);
    m_writer.freeAll(m_norm.statistics);
}

} // namespace headroom
