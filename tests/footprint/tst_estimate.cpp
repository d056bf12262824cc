// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/estimate.h"
#include "footprint/plans.h"
#include "footprint/working.h"

#include <QtTest>

using namespace headroom;
using headroom::test::planOf;
using headroom::test::workflowExample;

namespace {

Footprint estimated(const TrainingPlan& plan, const Calibration& calibration = {})
{
    Footprint footprint;
    const auto done = estimate(plan, calibration, footprint);
    if (!done) {
        qFatal("%s", done.error().english().c_str());
    }
    return footprint;
}

} // namespace

class EstimateTest : public QObject
{
    Q_OBJECT

private slots:
    void workflowExampleIsExact();
};

void EstimateTest::workflowExampleIsExact()
{
    const Footprint footprint = estimated(workflowExample());
    QCOMPARE(footprint.textbook.blockParameters, 12'582'912);
    QCOMPARE(footprint.textbook.parameters, 353'189'888);
    QCOMPARE(footprint.modelParameters, 353'189'888);
    QCOMPARE(footprint.textbook.staticState.value, 353'189'888LL * 16);
    QCOMPARE(formatGib(footprint.textbook.staticState, 3), std::string("5.263 GiB"));
    QCOMPARE(footprint.textbook.activations, mib(1536));
    QCOMPARE(footprint.k, 16.0);
    QCOMPARE(footprint.stages.size(), std::size_t{1});
    QCOMPARE(footprint.fullest().parameters, 353'189'888);
    QCOMPARE(footprint.fullest().peakAllocated.value, 353'189'888LL * 16 + mib(1536).value);
    QCOMPARE(footprint.fullest().peakPhase, Phase::Backward);
    QCOMPARE(footprint.textbook.peak, footprint.fullest().peakAllocated);
}

QTEST_APPLESS_MAIN(EstimateTest)
#include "tst_estimate.moc"
