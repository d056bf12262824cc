// SPDX-License-Identifier: GPL-3.0-or-later
// Activations of Megatron's layers that wait in the host's memory (theory.md 3.9, theory_frameworks.md 12).
#pragma once

#include "footprint/tape/program.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// The piece of a run while whose forward the storages of `piece` are still being copied out, and before whose backward
/// they are there again. Offloaded layers are spread evenly over all of a stage (Transformer Engine cpu_offload.py,
/// layer_window_map); where all but the last are, that is the next one.
[[nodiscard]] std::int64_t offloadWindow(const PieceRun& run, std::int64_t piece);
/// How many pieces of the run have their storages in the host's memory while `piece` runs, in either direction.
[[nodiscard]] std::int64_t piecesAway(const PieceRun& run, std::int64_t piece);

struct LayerPiece
{
    std::uint16_t piece = 0;
    bool hasExperts = false;
};

/// Chooses the storages of the tapes, the layers of the runs and the buffers they come back to, as the shape says.
void offloadActivations(const std::vector<LayerPiece>& layers, ModelProgram& program);

} // namespace headroom
