// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/linear_mixer.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// Sizes of a Mamba-2 scan on one rank (mamba_ssm ops/triton/ssd_combined.py), whoever calls it. Bytes, unless the name
/// says otherwise.
struct StateSpaceScan
{
    LinearMixer mixer; ///< this rank's heads
    std::int64_t sequences = 1, sequence = 0; ///< tokens of each
    std::int64_t element = 2;
    std::int64_t processors = 132; ///< multiprocessors of the GPU

    [[nodiscard]] std::int64_t rows() const { return sequences * sequence; }
    /// `width`: values of a token.
    [[nodiscard]] std::int64_t bytes(std::int64_t width) const { return rows() * width * element; }
    [[nodiscard]] std::int64_t chunks() const { return (sequence + mixer.chunk - 1) / mixer.chunk; }
    /// States of all chunks.
    [[nodiscard]] std::int64_t stateElements() const { return sequences * chunks() * mixer.values() * mixer.state; }
    /// Products of B and C within the chunks, in fp32.
    [[nodiscard]] std::int64_t scores() const
    {
        return 4 * sequences * chunks() * mixer.groups * mixer.chunk * mixer.chunk;
    }
    /// Time steps, or their sums, in fp32.
    [[nodiscard]] std::int64_t steps() const { return 4 * sequences * chunks() * mixer.chunk * mixer.heads; }
    /// Programs that share a group's heads write gradients of their own, so that the GPU is full
    /// (ops/triton/ssd_chunk_state.py, _chunk_state_bwd_db: nsplits).
    [[nodiscard]] std::int64_t headSplits() const;
};

/// A temporary: it is there from its turn on until that of number `until`; 0: until all is done.
struct ScanTemporary
{
    std::int64_t bytes = 0;
    std::size_t until = 0;
};

/// What MambaSplitConv1dScanCombinedFn.backward and _mamba_chunk_scan_combined_bwd allocate, in their order, gradients
/// of what flowed in left out. `isGated`: the scan itself multiplies by the gate, no norm behind it does.
[[nodiscard]] std::vector<ScanTemporary> scanBackwardTemporaries(const StateSpaceScan& scan, bool isGated);
/// The most of them that are there together.
[[nodiscard]] std::int64_t mostTogether(const std::vector<ScanTemporary>& temporaries);

} // namespace headroom
