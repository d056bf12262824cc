// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/instant/estimator.h"
#include "footprint/outlook/outside.h"

#include <utility>

namespace headroom {

Result<void> estimateInstantly(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint)
{
    if (auto textbook = estimate(plan, calibration, footprint); !textbook) {
        return textbook;
    }
    // A k of the user's own belongs to the recipe; the tapes have no such coefficient.
    if (calibration.k) {
        return {};
    }
    thread_local InstantEstimator estimator;
    thread_local std::vector<StageFootprint> stages;
    if (auto done = estimator.run(plan, stages); !done) {
        footprint.notExact = std::move(done.error().text);
        calibrate(footprint, calibration);
        return {};
    }
    footprint.engine = Engine::Instant;
    const Bytes outside = footprint.fullest().component(Component::Context); // no matter of the tapes
    footprint.stages = stages;
    setOutsideMemory(outside, footprint.stages);
    footprint.fullestStage = fullestOf(footprint.stages);
    calibrate(footprint, calibration);
    return {};
}

} // namespace headroom
