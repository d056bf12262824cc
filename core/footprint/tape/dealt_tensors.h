// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Megatron's layer-wise optimizer sorts tensors by size and deals them to the ranks, forwards and back
/// (theory_moe_cp.md B6; optimizer/layer_wise_optimizer.py, _shard_params_ping_pong). The places, ascending, of those
/// that rank gets, from 0; -1: the rank with most elements.
[[nodiscard]] std::vector<std::size_t> dealtTensors(const std::vector<std::int64_t>& elements, std::int64_t ranks,
                                                    std::int64_t rank);

} // namespace headroom
