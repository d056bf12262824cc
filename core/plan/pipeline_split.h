// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// How the layers are spread over the pipeline stages (theory.md 1.8): an explicit layout, explicit first and last
/// counts, otherwise an even split with the remainder on the first stages, on the last ones where the framework does
/// so. Closed form where there is no layout, so that long pipelines cost nothing.
class PipelineSplit
{
public:
    /// Null when the counts contradict each other or the layout, or there are more stages than layers.
    [[nodiscard]] static std::optional<PipelineSplit> of(const TrainingPlan& plan);

    [[nodiscard]] std::int64_t stages() const { return m_stages; }
    [[nodiscard]] std::int64_t layers(std::int64_t stage) const;
    /// The first layer of a stage.
    [[nodiscard]] std::int64_t firstLayer(std::int64_t stage) const
    {
        return sumBefore(stage, [](std::int64_t layers) { return layers; });
    }
    /// Sum of f(layers) over the stages in front of this one.
    template <class F> [[nodiscard]] std::int64_t sumBefore(std::int64_t stage, F f) const
    {
        if (stage <= 0) {
            return 0;
        }
        if (!m_explicit.empty()) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < std::min(stage, m_stages); ++i) {
                sum += f(m_explicit[static_cast<std::size_t>(i)]);
            }
            return sum;
        }
        const std::int64_t inner = stage - 1; // all but the first are of the middle kind
        const std::int64_t larger = std::clamp<std::int64_t>(m_remainder - m_firstInner, 0, inner);
        return f(m_first) + larger * f(m_base + 1) + (inner - larger) * f(m_base);
    }

private:
    std::vector<std::int64_t> m_explicit; ///< by stage, where the plan has a layout or the remainder goes behind
    std::int64_t m_stages = 1;
    std::int64_t m_first = 0, m_last = 0; ///< layers of the end stages
    std::int64_t m_base = 0, m_remainder = 0; ///< of the evenly split ones; the first m_remainder have one more
    std::int64_t m_firstInner = 0; ///< place of stage 1 among the evenly split ones
};

/// Model chunks of a stage, v: those of the layout, as many as stated, or as many as hold the stated number of layers
/// each. 1 when the layout can't be read.
[[nodiscard]] std::int64_t chunksPerStage(const TrainingPlan& plan);

/// How many layers each stage holds, as PipelineSplit has them. Empty when the counts contradict each other, or for
/// more stages than validate() allows.
[[nodiscard]] std::vector<std::int64_t> layersPerStage(const TrainingPlan& plan);

} // namespace headroom
