// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/encoder_walk.h"
#include "footprint/tape/program.h"

#include <span>
#include <vector>

namespace headroom {

/// What the walks through a stage's step have in common, whatever the schedule: tensors between stages, the image
/// encoder beside the language model's passes, the last tensors that a chunk keeps.
template <class Reader> class StageWalk
{
public:
    using Handle = typename Reader::Handle;

    /// What a walk remembers, apart so that its storage serves the next walk too.
    struct Memory
    {
        struct ChunkMemory
        {
            Handle input, gradient; ///< the last ones, kept between steps too
            bool isDone = false; ///< that input's backward has run
            std::int64_t microBatch = 0;
        };
        std::vector<ChunkMemory> chunks;
        std::vector<Handle> outputs; ///< where they stay until their backward
        std::vector<Handle> inputs; ///< by micro-batch, and by chunk when interleaving
        std::vector<Handle> waiting; ///< the same of received gradients, until the weights' turn
    };

    StageWalk(const RankShape& shape, const StageProgram& stage, Reader& reader, Memory& memory,
              std::int64_t microBatches)
        : m_shape(shape)
        , m_stage(stage)
        , m_reader(reader)
        , m_memory(memory)
        , m_boundaryBytes(shape.boundaryBytes())
        , m_stride(microBatches)
        , m_encoder(shape, stage, reader, microBatches)
    {
    }

    /// The passes of the encoder that are left when those of the stage are done.
    void finishEncoder() { m_encoder.finish(); }

protected:
    /// `own`: bytes where they are not those of the language model's boundary tensors, else 0.
    Handle boundary(std::int64_t own)
    {
        return m_reader.allocate(TensorKind::Boundary, own > 0 ? own : m_boundaryBytes);
    }
    Handle receive(const Chunk& chunk) { return chunk.receives ? boundary(chunk.receivedBytes) : Handle{}; }
    Handle receiveGradient(const Chunk& chunk) { return chunk.sends ? boundary(chunk.sentBytes) : Handle{}; }

    /// Before a pass that takes `width`.
    void beginPass(std::int64_t width) { m_encoder.beginPass(width); }

    static constexpr bool leavesOut = requires(Reader & reader, std::span<const Handle> kept)
    {
        reader.repeatable(kept, std::int64_t{}, std::int64_t{});
    };

    std::int64_t repeatable(std::span<const Handle> kept, std::int64_t turns, std::int64_t unit)
    {
        if constexpr (leavesOut) {
            return m_stage.hasEncoder ? 0 : m_reader.repeatable(kept, turns, unit); // which has turns of its own
        }
        return 0;
    }

    Handle& liveInput(std::size_t chunk, std::int64_t microBatch)
    {
        return m_memory.inputs[chunk * static_cast<std::size_t>(m_stride) + static_cast<std::size_t>(microBatch)];
    }

    /// A chunk keeps its last input and that input's gradient; others end with the pass, their gradient when it is
    /// sent.
    void keepLast(std::size_t chunk, std::int64_t microBatch, const Handle& gradient)
    {
        m_reader.free(m_inputGradient);
        Handle& input = liveInput(chunk, microBatch);
        auto& last = m_memory.chunks[chunk];
        if (last.microBatch == microBatch) {
            last = {input, gradient, true, microBatch};
        } else {
            m_reader.free(input);
            m_inputGradient = gradient;
        }
    }

    const RankShape& m_shape;
    const StageProgram& m_stage;
    Reader& m_reader;
    Memory& m_memory;
    const std::int64_t m_boundaryBytes;
    const std::int64_t m_stride; ///< of the inputs of a chunk to those of the next
    Handle m_inputGradient; ///< being sent

private:
    EncoderWalk<Reader> m_encoder;
};

} // namespace headroom
