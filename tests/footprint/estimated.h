// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "footprint/vision_plans.h"

#include <QTest>

namespace headroom::test {

/// The estimate of a plan that has one. Another plan is a mistake of the test.
inline Footprint estimated(const TrainingPlan& plan, const Calibration& calibration = {})
{
    Footprint footprint;
    if (const auto done = estimate(plan, calibration, footprint); !done) {
        qFatal("%s", done.error().english().c_str());
    }
    return footprint;
}

/// Rows of plans whose memory is filled by different things, in the column "plan".
inline void addVariedPlans()
{
    QTest::addColumn<TrainingPlan>("plan");
    QTest::newRow("example") << workflowExample();
    QTest::newRow("multimodal") << multimodal();
    QTest::newRow("70B") << planOf({{"parallel.tp", "8"}, {"parallel.pp", "4"}, {"parallel.sp", "true"}},
                                   llama2Of70B());
    QTest::newRow("full recompute") << planOf({{"recompute.granularity", "full"}, {"recompute.vision", "true"}},
                                              multimodal());
    QTest::newRow("fp16") << planOf({{"precision.recipe", "megatron-fp16"}, {"batch.seq", "16"}}, workflowExample());
    QTest::newRow("autocast") << planOf({{"precision.recipe", "fp32"}, {"precision.autocast", "true"}},
                                        workflowExample());
}

} // namespace headroom::test
