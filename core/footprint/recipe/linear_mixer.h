// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/layer_pattern.h"

#include <cstdint>

namespace headroom {

/// Sizes of the mixers that are no attention, of the whole model or of one rank. A state space works on heads of
/// `headDim` values with a state of `state` each, whose B and C `groups` of heads share (arXiv:2405.21060); a delta net
/// has keys and values as attention has (arXiv:2412.06464).
struct LinearMixer
{
    std::int64_t heads = 0, headDim = 0; ///< of values
    std::int64_t keyHeads = 0, keyDim = 0;
    std::int64_t state = 0, groups = 1;
    std::int64_t conv = 4, chunk = 128, timeRank = 0;
    bool hasConvBias = true;

    [[nodiscard]] std::int64_t values() const { return heads * headDim; }
    [[nodiscard]] std::int64_t keys() const { return keyHeads * keyDim; }
    /// Channels of the convolution: x, B, C of a state space; q, k, v of a delta net.
    [[nodiscard]] std::int64_t convolved(Mixer kind) const
    {
        return values() + (kind == Mixer::DeltaNet ? 2 * keys() : kind == Mixer::Mamba2 ? 2 * groups * state : 0);
    }
    /// Width of the projection in: a gate, those channels, and for every head its time step, or two values of a delta
    /// net.
    [[nodiscard]] std::int64_t projected(Mixer kind) const
    {
        return values() + convolved(kind) + (kind == Mixer::DeltaNet ? 2 * heads : kind == Mixer::Mamba2 ? heads : 0);
    }
    /// The share of one of so many ranks, which split heads and groups.
    [[nodiscard]] LinearMixer splitOver(std::int64_t ranks) const;
};

struct Architecture;
struct LayerTensors;
struct Split;

/// Of the tensors that a layer with attention and an MLP or experts keeps, leaves those that one of `kind` has, and
/// adds what a mixer other than attention keeps (mamba_ssm ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn;
/// fla ops/gated_delta_rule/chunk.py).
void keepKind(LayerKind kind, const Architecture& model, const Split& split, LayerTensors& layer);

} // namespace headroom
