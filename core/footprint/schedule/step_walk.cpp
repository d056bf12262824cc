// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/step_walk.h"

#include <algorithm>

namespace headroom {

namespace {

/// An upper bound of the micro-batches under way at once in the schedules that split the backward, and two more; an
/// even number.
std::int64_t repeatingPasses(const RankShape& shape)
{
    return 2 * shape.stages + 4;
}

} // namespace

std::int64_t distinctMicroBatches(const RankShape& shape, const StageProgram& stage)
{
    const std::int64_t all = shape.microBatches;
    if (shape.schedule == Schedule::GPipe || shape.deferredWgrads == 0) {
        return all;
    }
    if (splitsBackward(shape.schedule)) {
        return std::min(all, repeatingPasses(shape));
    }
    const std::int64_t deferred = std::max<std::int64_t>(shape.deferredWgrads, 0);
    if (shape.chunks == 1 && stage.hasEncoder) {
        return std::min(all, 2 * shape.stages + 2 + deferred); // it holds as many as the first stage
    }
    if (shape.chunks == 1) {
        return std::min(all, shape.stages - stage.stage + 1 + shape.extraInFlight + deferred);
    }
    const std::int64_t group = shape.chunkGroup;
    const std::int64_t most = 4 * group + (deferred + group - 1) / group * group;
    return all <= most ? all : most + all % group;
}

} // namespace headroom
