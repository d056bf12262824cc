// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/schedule/order.h"
#include "footprint/tape/shape.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// How long a pass takes: as long as a forward's share of the operations.
inline constexpr std::int64_t forwardWidth = 1, backwardWidth = 2, weightsWidth = 1;
[[nodiscard]] std::int64_t widthOf(StagePass::Kind kind);

/// A pass of the image encoder that every stage holds a copy of.
struct EncoderPass
{
    std::int64_t time = 0; ///< in widths of passes, those of other stages not waited for
    std::int64_t microBatch = 0;
    bool isForward = true;
};

/// The encoder's passes in a step, in order: all copies encode a micro-batch right before the pipeline's first stage
/// reads its features, and run backward right after that has made their gradient (theory.md 1.9). Stages wait equally
/// long for one another in all, so that the clock of any stage serves without the waiting.
[[nodiscard]] std::vector<EncoderPass> encoderPasses(const RankShape& shape, std::int64_t microBatches);

} // namespace headroom
