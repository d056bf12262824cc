// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/linear_mixer.h"

#include <cstdint>

namespace headroom {

/// Sizes of the gated delta rule in chunks on one rank (fla/ops/gated_delta_rule/chunk.py), in bytes, whoever calls it.
struct DeltaRule
{
    static constexpr std::int64_t chunk = 64; ///< tokens, fixed in the kernels

    LinearMixer mixer; ///< this rank's heads
    std::int64_t sequences = 1, sequence = 0; ///< tokens of each
    std::int64_t element = 2;

    [[nodiscard]] std::int64_t rows() const { return sequences * sequence; }
    /// `width`: values of a token.
    [[nodiscard]] std::int64_t bytes(std::int64_t width) const { return rows() * width * element; }
    [[nodiscard]] std::int64_t values() const { return bytes(mixer.values()); }
    /// q or k once there is one for every head of values.
    [[nodiscard]] std::int64_t expandedKeys() const { return bytes(mixer.heads * mixer.keyDim); }
    [[nodiscard]] std::int64_t states() const
    {
        return sequences * ((sequence + chunk - 1) / chunk) * mixer.values() * mixer.keyDim * element;
    }
    /// Decay in fp32 on its way from the projection, its sums, and beta.
    [[nodiscard]] std::int64_t decay() const { return rows() * mixer.heads * (3 * 4 + element); }
    [[nodiscard]] std::int64_t inverted() const { return bytes(chunk * mixer.heads); }
    /// Before they are inverted, in fp32.
    [[nodiscard]] std::int64_t scores() const { return 4 * rows() * chunk * mixer.heads; }
    /// w and u; the states of the chunks; new values.
    [[nodiscard]] std::int64_t temporaries() const { return expandedKeys() + 2 * values() + states(); }
};

} // namespace headroom
