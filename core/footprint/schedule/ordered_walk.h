// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/order.h"
#include "footprint/schedule/stage_walk.h"

#include <utility>

namespace headroom {

/// A step of a schedule whose backward is split, run as its order says.
template <class Reader> class OrderedWalk : public StageWalk<Reader>
{
public:
    using Walk = StageWalk<Reader>;
    using Handle = typename Reader::Handle;
    using Walk::Walk;

    void run(std::int64_t microBatches)
    {
        m_memory.inputs.assign(static_cast<std::size_t>(microBatches) * m_stage.chunks.size(), Handle{});
        m_memory.waiting.assign(m_shape.holdsGraphs ? m_memory.inputs.size() : 0, Handle{});
        for (const StagePass& pass :
             stageOrder({m_shape.schedule, m_shape.stages, m_shape.chunks, microBatches, 0}, m_stage.stage)) {
            switch (pass.kind) {
            case StagePass::Kind::Forward:
                forward(pass.chunk, pass.microBatch);
                break;
            case StagePass::Kind::Backward:
            case StagePass::Kind::InputGradient:
                backward(pass);
                break;
            case StagePass::Kind::WeightGradient:
                weights(pass);
                break;
            }
        }
        m_reader.free(m_inputGradient);
    }

private:
    using Walk::beginPass;
    using Walk::keepLast;
    using Walk::liveInput;
    using Walk::m_inputGradient;
    using Walk::m_memory;
    using Walk::m_reader;
    using Walk::m_shape;
    using Walk::m_stage;
    using Walk::m_stride;
    using Walk::receive;
    using Walk::receiveGradient;

    void forward(std::size_t chunk, std::int64_t microBatch)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const Handle input = receive(m_stage.chunks[chunk]);
        auto& last = m_memory.chunks[chunk];
        if (last.isDone) {
            m_reader.free(last.input);
            m_reader.free(last.gradient);
        }
        last = {input, Handle{}, false, microBatch};
        Handle output = m_reader.forward(chunk, microBatch, input);
        m_reader.free(output); // sent, and emptied
        liveInput(chunk, microBatch) = input;
    }

    void backward(const StagePass& pass)
    {
        beginPass(widthOf(pass.kind));
        m_reader.enter(Phase::Backward);
        const Handle received = receiveGradient(m_stage.chunks[pass.chunk]);
        const bool isSplit = pass.kind == StagePass::Kind::InputGradient;
        if (isSplit && waits(pass.chunk)) {
            waiting(pass) = received;
            return;
        }
        Handle gradient = pass.kind == StagePass::Kind::Backward
            ? m_reader.backward(pass.chunk, pass.microBatch, received)
            : m_reader.inputBackward(pass.chunk, pass.microBatch, received);
        if (isSplit && m_shape.holdsGraphs) {
            m_reader.free(m_inputGradient);
            m_inputGradient = gradient;
        } else {
            keepLast(pass.chunk, pass.microBatch, gradient);
        }
    }

    void weights(const StagePass& pass)
    {
        beginPass(weightsWidth);
        m_reader.enter(Phase::Backward);
        if (waits(pass.chunk)) {
            keepLast(pass.chunk, pass.microBatch,
                     m_reader.backward(pass.chunk, pass.microBatch, std::exchange(waiting(pass), Handle{})));
            return;
        }
        m_reader.weights(pass.chunk, pass.microBatch);
        if (m_shape.holdsGraphs) {
            keepLast(pass.chunk, pass.microBatch, Handle{});
        }
    }

    /// Without an input there is no gradient of it: all is computed in the weights' turn
    /// (torch/distributed/pipelining/stage.py, backward_one_chunk and backward_weight_one_chunk; from memory).
    [[nodiscard]] bool waits(std::size_t chunk) const { return m_shape.holdsGraphs && !m_stage.chunks[chunk].receives; }

    Handle& waiting(const StagePass& pass)
    {
        return m_memory
            .waiting[pass.chunk * static_cast<std::size_t>(m_stride) + static_cast<std::size_t>(pass.microBatch)];
    }
};

} // namespace headroom
