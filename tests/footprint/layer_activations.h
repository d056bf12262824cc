// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/activations.h"

namespace headroom::test {

inline ActivationModel modelOf(const TrainingPlan& plan, const Calibration& calibration = {})
{
    return activationModel(plan, architectureOf(plan), visionTowerOf(plan), projectorOf(plan), splitOf(plan),
                           calibration);
}

/// Bytes that one layer keeps of one micro-batch.
inline double layerOf(const TrainingPlan& plan)
{
    const ActivationModel model = modelOf(plan);
    return model.tokens * model.dense.kept;
}

} // namespace headroom::test
