// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/chunk_turn.h"
#include "footprint/schedule/stage_walk.h"

#include <algorithm>

namespace headroom {

/// A step of interleaved 1F1B.
template <class Reader> class InterleavedWalk : public StageWalk<Reader>
{
public:
    using Walk = StageWalk<Reader>;
    using Handle = typename Reader::Handle;
    using Walk::Walk;

    void run(std::int64_t microBatches)
    {
        std::int64_t turns = microBatches * m_shape.chunks;
        const std::int64_t warmUp
            = std::min(2 * (m_shape.stages - 1 - m_stage.stage) + (m_shape.chunks - 1) * m_shape.chunkGroup, turns);
        m_memory.inputs.assign(static_cast<std::size_t>(turns), Handle{});
        m_turns = turns;
        m_microBatches = microBatches;
        m_reader.enter(Phase::Forward);
        m_next = receiveFor(0);
        for (std::int64_t k = 0; k < warmUp; ++k) {
            forward(k);
        }
        for (std::int64_t k = warmUp; k < turns; ++k) {
            forward(k);
            backward(k - warmUp);
            if constexpr (leavesOut) {
                leaveOutGroups(k);
                turns = m_turns;
            }
        }
        for (std::int64_t k = turns - warmUp; k < turns; ++k) {
            backward(k);
        }
        m_reader.free(m_inputGradient);
    }

private:
    using Walk::beginPass;
    using Walk::keepLast;
    using Walk::leavesOut;
    using Walk::liveInput;
    using Walk::m_inputGradient;
    using Walk::m_memory;
    using Walk::m_reader;
    using Walk::m_shape;
    using Walk::m_stage;
    using Walk::receive;
    using Walk::receiveGradient;
    using Walk::repeatable;

    /// Whole groups only: the last one may be smaller and ends differently. The next turn's input is there already.
    void leaveOutGroups(std::int64_t k)
    {
        const std::int64_t unit = m_shape.chunkGroup * m_shape.chunks;
        m_kept.assign({m_next, m_inputGradient});
        for (const auto& chunk : m_memory.chunks) {
            m_kept.insert(m_kept.end(), {chunk.input, chunk.gradient});
        }
        const std::int64_t turns = repeatable(m_kept, m_microBatches / m_shape.chunkGroup * unit - k - 2, unit);
        m_turns -= turns;
        m_microBatches -= turns / m_shape.chunks;
    }

    [[nodiscard]] ChunkTurn turn(std::int64_t k, bool isBackward) const
    {
        return chunkTurn(k, isBackward, {m_shape.chunks, m_shape.chunkGroup, m_microBatches});
    }

    Handle receiveFor(std::int64_t k) { return k < m_turns ? receive(m_stage.chunks[turn(k, false).chunk]) : Handle{}; }

    void forward(std::int64_t k)
    {
        beginPass(forwardWidth);
        m_reader.enter(Phase::Forward);
        const auto [chunk, microBatch] = turn(k, false);
        const Handle input = m_next;
        m_next = receiveFor(k + 1); // the next receive runs during this forward
        auto& last = m_memory.chunks[chunk];
        Handle heldInput, heldGradient;
        if (last.isDone && m_lossChunk == static_cast<std::int64_t>(chunk)) {
            heldInput = last.input; // the last loss still holds its graph
            heldGradient = last.gradient;
        } else if (last.isDone) {
            m_reader.free(last.input);
            m_reader.free(last.gradient);
        }
        last = {input, Handle{}, false, microBatch};
        Handle output = m_reader.forward(chunk, microBatch, input);
        m_reader.free(output);
        m_reader.free(heldInput);
        m_reader.free(heldGradient);
        liveInput(chunk, microBatch) = input;
        m_lossChunk = m_stage.chunks[chunk].sends ? -1 : static_cast<std::int64_t>(chunk);
    }

    void backward(std::int64_t k)
    {
        beginPass(backwardWidth);
        m_reader.enter(Phase::Backward);
        const auto [chunk, microBatch] = turn(k, true);
        const Handle received = receiveGradient(m_stage.chunks[chunk]);
        const Handle gradient = m_reader.backward(chunk, microBatch, received);
        keepLast(chunk, microBatch, gradient);
    }

    std::int64_t m_turns = 0, m_microBatches = 0, m_lossChunk = -1;
    Handle m_next;
    std::vector<Handle> m_kept;
};

} // namespace headroom
