// SPDX-License-Identifier: GPL-3.0-or-later
// What blocks, embedding and head of PyTorch frameworks share.
#pragma once

#include "footprint/tape_torch.h"

namespace headroom {

/// theory.md 3.3: written in Python a norm keeps an fp32 copy of its input, one number a row, and the normalised tensor
/// for the product with a trained weight; as one kernel its input and that number.
[[nodiscard]] ModuleGraph::Tensor torchNorm(const TorchShape& shape, ModuleGraph& graph, ModuleGraph::Tensor input,
                                            std::int64_t rows, std::int64_t width);

[[nodiscard]] GradientRule torchGradients(const TorchShape& shape);
/// Bytes of a module's parameters once gathered; 0 where nothing is.
[[nodiscard]] std::int64_t torchGathered(const TorchShape& shape, const TorchWeights& weights);
/// FSDP2 gathers on a stream of its own, from a buffer with this rank's shard into one that is copied out
/// (_fsdp_collectives.py, foreach_all_gather).
void setTorchGathered(const TorchShape& shape, const TorchWeights& weights, ModuleGraph::Options& options);
void fillTorchParameters(const TorchWeights& weights, Piece& piece);

/// The gradient of a tied matrix is one, whichever of the two modules makes it.
constexpr int tiedWeight = 0;

} // namespace headroom
