// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/stage_walk.h"

#include <algorithm>
#include <array>

namespace headroom {

/// A step of 1F1B or GPipe.
template <class Reader> class PlainWalk : public StageWalk<Reader>
{
public:
    using Walk = StageWalk<Reader>;
    using Handle = typename Reader::Handle;
    using Walk::Walk;

    void run(std::int64_t microBatches)
    {
        const std::int64_t warmUp = m_shape.schedule == Schedule::GPipe
            ? microBatches
            : std::min(m_shape.stages - 1 - m_stage.stage + m_shape.extraInFlight, microBatches);
        m_memory.inputs.assign(static_cast<std::size_t>(microBatches), Handle{});
        auto& outputs = m_memory.outputs;
        outputs.assign(static_cast<std::size_t>(microBatches), Handle{});
        for (std::int64_t i = 0; i < warmUp; ++i) {
            Handle output = forward(i);
            if (m_shape.keepsStageOutputs) {
                outputs[static_cast<std::size_t>(i)] = output;
            } else {
                m_reader.free(output);
            }
        }
        for (std::int64_t i = warmUp; i < microBatches; ++i) {
            Handle output = forward(i);
            if (m_shape.keepsStageOutputs && warmUp > 0) {
                outputs[static_cast<std::size_t>(i)] = output;
                output = outputs[static_cast<std::size_t>(i - warmUp)];
            }
            backward(i - warmUp, output);
            const std::array kept{m_oldInput, m_inputGradient, m_outputGradient};
            microBatches -= repeatable(kept, microBatches - i - 1, 1);
        }
        for (std::int64_t i = microBatches - warmUp; i < microBatches; ++i) {
            backward(i, outputs[static_cast<std::size_t>(i)]);
        }
        m_reader.free(m_outputGradient);
        m_memory.chunks[0].input = m_oldInput;
        m_memory.chunks[0].gradient = m_inputGradient;
        m_oldInput = m_inputGradient = Handle{};
    }

private:
    using Walk::beginPass;
    using Walk::m_boundaryBytes;
    using Walk::m_inputGradient;
    using Walk::m_memory;
    using Walk::m_reader;
    using Walk::m_shape;
    using Walk::m_stage;
    using Walk::receive;
    using Walk::receiveGradient;
    using Walk::repeatable;

    Handle forward(std::int64_t microBatch)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const Handle input = receive(m_stage.chunks[0]);
        if (microBatch == 0) {
            // Only the chunk itself still refers to the last step's.
            m_reader.free(m_memory.chunks[0].input);
            m_reader.free(m_memory.chunks[0].gradient);
        }
        const Handle output = m_reader.forward(0, microBatch, input);
        m_reader.free(m_oldInput); // the graph of the old output held it
        m_memory.inputs[static_cast<std::size_t>(microBatch)] = input;
        return output;
    }

    void backward(std::int64_t microBatch, Handle& output)
    {
        beginPass(backwardWidth);
        m_reader.enter(Phase::Backward);
        Handle gradient;
        const Chunk& chunk = m_stage.chunks[0];
        if (chunk.sends) {
            Handle received = receiveGradient(chunk);
            m_reader.free(m_outputGradient);
            m_outputGradient = received;
            if (!m_shape.keepsStageOutputs) {
                m_reader.free(output); // sent, and emptied (deallocate_pipeline_outputs)
            }
            if (!chunk.isFrozen) {
                gradient = m_reader.allocate(TensorKind::ActivationGradient,
                                             chunk.sentBytes > 0 ? chunk.sentBytes : m_boundaryBytes);
            }
        }
        gradient = m_reader.backward(0, microBatch, gradient);
        m_reader.free(output);
        m_reader.free(m_inputGradient);
        m_reader.free(m_oldInput);
        m_inputGradient = gradient;
        m_oldInput = m_memory.inputs[static_cast<std::size_t>(microBatch)];
    }

    Handle m_oldInput, m_outputGradient;
};

} // namespace headroom
