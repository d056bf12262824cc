// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace headroom {

/// Which activations wait in the host's memory for their backward.
struct OffloadShape
{
    /// Whose input it is, as Megatron-LM's --offload-modules names them.
    enum Module : unsigned {
        AttentionNorm = 1,
        QkvLinear = 2,
        CoreAttention = 4,
        AttentionProjection = 8,
        MlpNorm = 16,
        ExpertInputs = 32,
        ExpertActivation = 64,
        Others = 128,
        Scores = 256 ///< what attention with explicit scores saves, which no module offers by itself
    };
    bool isOn = false;
    bool isByChunk = false; ///< a share of every chunk leaves after its forward and comes back into buffers of its own
    unsigned modules = 255;
    std::int64_t layers = -1; ///< the first so many; -1: all but the last
    double fraction = 1; ///< of the bytes where chunks leave, else of the layers
};

} // namespace headroom
