// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"

#include <QString>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// Two runs by pipeline stage: of each what was estimated, or measured, or both.
struct StagePairs
{
    struct Side
    {
        QString name;
        std::vector<StageFootprint> stages; ///< empty: not estimated
        std::vector<std::optional<Bytes>> measured; ///< allocated peak of each stage; none where unknown
        std::optional<Bytes> peak; ///< measured on one of the stages, where it is not known which

        [[nodiscard]] bool isEstimated() const { return !stages.empty(); }
    };

    std::array<Side, 2> sides; ///< before, after
    std::optional<Bytes> capacity;
    QString capacityLabel;

    [[nodiscard]] std::size_t stageCount() const
    {
        std::size_t count = 0;
        for (const Side& side : sides) {
            count = std::max({count, side.stages.size(), side.measured.size()});
        }
        return count;
    }
};

} // namespace headroom
