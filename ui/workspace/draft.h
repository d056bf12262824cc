// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "plan/fields.h"

namespace headroom {

/// What the user is turning knobs on: a plan and the coefficients of its estimate.
struct Draft
{
    TrainingPlan plan;
    Calibration calibration;

    /// Equal in every value; where the values came from does not matter.
    [[nodiscard]] bool means(const Draft& other) const
    {
        return calibration == other.calibration && difference(plan, other.plan).empty();
    }
};

} // namespace headroom
