// SPDX-License-Identifier: GPL-3.0-or-later
// PyTorch's pipelines (torch/distributed/pipelining/stage.py).
#pragma once

#include "footprint/torch/tapes.h"

#include <cstdint>
#include <span>

namespace headroom {

/// What the runtime of a pipeline adds to every chunk of its stages: a piece in front of the chunk's own and one
/// behind. Nothing where there is no pipeline.
class TorchPipeline
{
public:
    /// Its pieces stand from `firstPiece` of the program on, in the order of the chunks.
    TorchPipeline(const TorchShape& shape, std::uint16_t firstPiece, ModelProgram& program);

    /// Of all stages; none where there is no pipeline.
    [[nodiscard]] static std::int64_t chunks(const TorchShape& shape);
    [[nodiscard]] std::size_t pieceCount() const { return 2 * static_cast<std::size_t>(chunks(m_shape)); }

    void begin(Chunk& chunk) const;
    /// `parts`: the chunk's. `isStages`: not the features of a copy of the encoder, which no runtime sends.
    void end(Chunk& chunk, std::span<const TorchPart> parts, bool isStages);

private:
    void writeGathering(std::uint16_t index, std::span<const TorchPart> parts);
    void addSending(std::uint16_t index, Chunk& chunk);

    const TorchShape& m_shape;
    ModelProgram& m_program;
    std::uint16_t m_nextPiece;
};

} // namespace headroom
