// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// Marks the pieces that are recorded as CUDA graphs, as the shape says. `kind`: of the piece's layers, of which it has
/// `layers`.
void recordGraphs(const RankShape& shape, const LayerKind& kind, std::int64_t layers, Piece& piece);

/// Bytes of each tensor that a stage's CUDA graphs read. A graph, of one layer in one pass, has an input at an address
/// of its own, in bf16, and where it holds attention a mask of b·s·s bytes; layers share those of passes that have run
/// backward (Megatron-LM transformer/cuda_graphs.py, _get_sample_arguments; transformer_layer.py,
/// get_layer_static_inputs). They stay for the rest of the run.
[[nodiscard]] std::vector<std::int64_t> graphInputs(const ModelProgram& program, const StageProgram& stage);

} // namespace headroom
