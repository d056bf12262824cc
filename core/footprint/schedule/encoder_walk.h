// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/encoder_passes.h"
#include "footprint/tape/program.h"

#include <limits>
#include <vector>

namespace headroom {

/// The passes of a stage's copy of the image encoder, where it has one, in step with the first stage's.
template <class Reader> class EncoderWalk
{
public:
    using Handle = typename Reader::Handle;

    EncoderWalk(const RankShape& shape, const StageProgram& stage, Reader& reader, std::int64_t microBatches)
        : m_stage(stage)
        , m_reader(reader)
    {
        if (stage.hasEncoder) {
            m_passes = encoderPasses(shape, microBatches);
        }
    }

    /// Before a pass that takes `width`: the encoder's passes that are due.
    void beginPass(std::int64_t width)
    {
        if (m_stage.hasEncoder) {
            encodeUntil(m_elapsed);
            m_elapsed += width;
        }
    }

    /// Those that are left when the language model's are done.
    void finish() { encodeUntil(std::numeric_limits<std::int64_t>::max()); }

private:
    void encodeUntil(std::int64_t time)
    {
        const std::size_t encoder = m_stage.chunks.size() - 1;
        for (; m_next < m_passes.size() && m_passes[m_next].time <= time; ++m_next) {
            const EncoderPass& pass = m_passes[m_next];
            m_reader.enter(pass.isForward ? Phase::Forward : Phase::Backward);
            Handle flowing;
            if (pass.isForward) {
                flowing = m_reader.forward(encoder, pass.microBatch, Handle{});
            } else {
                const Chunk& chunk = m_stage.chunks[encoder];
                flowing
                    = chunk.isFrozen ? Handle{} : m_reader.allocate(TensorKind::ActivationGradient, chunk.sentBytes);
                flowing = m_reader.backward(encoder, pass.microBatch, flowing);
            }
            m_reader.free(flowing); // features that the first stage has got
        }
    }

    const StageProgram& m_stage;
    Reader& m_reader;
    std::vector<EncoderPass> m_passes;
    std::size_t m_next = 0;
    std::int64_t m_elapsed = 0; ///< in widths of passes
};

} // namespace headroom
