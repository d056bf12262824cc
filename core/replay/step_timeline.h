// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"
#include "units/bytes.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

struct ModelProgram;
struct StageReplay;

/// One training step of a stage, to be drawn: what is allocated while each layer works, over the passes of the
/// schedule. Positions are work, not time: one layer's forward is 1 wide, its backward 2 (twice the products), a
/// forward run again 1; the optimizer's step is drawn as wide as one forward pass. Waiting for other stages does not
/// show, since memory stands still meanwhile.
struct StepTimeline
{
    /// A chunk's forward or backward of one micro-batch, or the optimizer's step.
    struct Pass
    {
        Phase phase = Phase::Forward;
        std::int32_t chunk = 0;
        std::int32_t microBatch = 0; ///< -1 in the optimizer
        double begin = 0, end = 0;
        bool isEncoder = false; ///< of the stage's copy of an image encoder, which works in step with the first stage
    };
    /// The highest moment while one layer works; several layers where there are too many to draw.
    struct Span
    {
        double begin = 0, end = 0;
        std::uint32_t pass = 0;
        bool isRebuilding = false;
        std::array<Bytes, componentCount> components{}; ///< their sum is what is allocated

        [[nodiscard]] Bytes allocated() const;
    };

    std::vector<Pass> passes;
    std::vector<Span> spans; ///< without gaps from 0 to width()
    std::size_t peak = 0; ///< the span with the most allocated, the first of equals
    Schedule schedule = Schedule::OneForwardOneBackward;
    std::int64_t chunks = 1;
    std::int64_t microBatches = 0, walkedMicroBatches = 0; ///< of the plan, and those in the passes
    std::int64_t inFlight = 0; ///< the most micro-batches between the language model's forward and its backward

    [[nodiscard]] double width() const { return spans.empty() ? 0 : spans.back().end; }
    /// The span at that position; none outside.
    [[nodiscard]] std::optional<std::size_t> spanAt(double position) const;
};

/// Of a replay that recorded its timeline. Layers of one pass are joined to their highest where there are more than
/// `mostSpans`; a peak is never lost.
[[nodiscard]] StepTimeline stepTimeline(const ModelProgram& program, const StageReplay& replay,
                                        std::size_t mostSpans = 8192);

} // namespace headroom
