// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headroom {

/// Of an interleaved pipeline.
struct ChunkRounds
{
    std::int64_t chunks = 1; ///< of a stage
    std::int64_t group = 1; ///< micro-batches of a chunk in a row
    std::int64_t microBatches = 1;
};

struct ChunkTurn
{
    std::size_t chunk = 0;
    std::int64_t microBatch = 0;
};

/// Whose the `k`-th forward (backward) is: micro-batches come in groups, and a group passes through all chunks before
/// the next one starts (Megatron pipeline_parallel/schedules.py).
[[nodiscard]] inline ChunkTurn chunkTurn(std::int64_t k, bool isBackward, const ChunkRounds& rounds)
{
    const std::int64_t start = k / (rounds.group * rounds.chunks) * rounds.group;
    const std::int64_t size = std::min(rounds.group, rounds.microBatches - start);
    const std::int64_t within = k - start * rounds.chunks;
    const std::int64_t chunk = within / size;
    return {static_cast<std::size_t>(isBackward ? rounds.chunks - 1 - chunk : chunk), start + within % size};
}

} // namespace headroom
