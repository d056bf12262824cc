// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"
#include "footprint/written_plan.h"
#include "insight/fit_plans.h"
#include "replay/replay.h"

#include <QTest>

using namespace headroom;

namespace {

TrainingPlan planOf(const QByteArray& settings)
{
    return test::planOf("model.layers=24 model.hidden=1024 model.vocab=50000 batch.seq=1024 batch.micro=2 " + settings,
                        "a.yaml");
}

} // namespace

/// A replay leaves out the micro-batches that repeat what has been; walking them all gives the same figures.
class TestRepetition : public QObject
{
    Q_OBJECT

private slots:
    void figuresAreTheSame_data();
    void figuresAreTheSame();
    void cleanupTestCase();
    void moreMicroBatchesCostNothing();

private:
    std::int64_t m_walked = 0, m_all = 0; ///< events
};

void TestRepetition::figuresAreTheSame_data()
{
    QTest::addColumn<QByteArray>("settings");
    for (const test::FitPlan& row : test::fitPlans()) {
        QTest::newRow(row.name) << row.settings;
    }
    const QByteArray interleaved
        = "model.layers=16 model.heads=16 framework=megatron-args parallel.pp=4 parallel.vpp=2 "
          "parallel.schedule=interleaved batch.accum=";
    const QByteArray plain = "model.layers=12 model.heads=16 framework=megatron-args parallel.pp=4 batch.accum=";
    for (const char* microBatches : {"1", "3", "4", "7", "13", "30", "64", "97"}) {
        QTest::addRow("interleaved, %s micro-batches", microBatches) << interleaved + microBatches;
        QTest::addRow("1F1B, %s micro-batches", microBatches) << plain + microBatches;
    }
    QTest::newRow("deferred weight gradients") << plain + "41 implementation.deferred_wgrads=5";
    QTest::newRow("expandable segments") << plain + "41 implementation.expandable_segments=true";
}

void TestRepetition::figuresAreTheSame()
{
    QFETCH(const QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    QVERIFY(estimator.run(plan, stages));
    ReplayOptions all;
    all.leavesOutRepeats = false;
    for (const StageProgram& stage : estimator.program().stages) {
        const StageReplay walked = replayStage(estimator.program(), stage);
        const StageReplay every = replayStage(estimator.program(), stage, all);
        QVERIFY(walked.events <= every.events);
        m_walked += walked.events;
        m_all += every.events;
        QCOMPARE(walked.steadyAllocated.value, every.steadyAllocated.value);
        QCOMPARE(walked.firstStepPeakAllocated.value, every.firstStepPeakAllocated.value);
        QCOMPARE(walked.peakAllocated.value, every.peakAllocated.value);
        QCOMPARE(walked.peakReserved.value, every.peakReserved.value);
        QCOMPARE(walked.reservedAtEnd.value, every.reservedAtEnd.value);
        QCOMPARE(walked.largestFreeBlock.value, every.largestFreeBlock.value);
        QCOMPARE(walked.steadyRounding.value, every.steadyRounding.value);
        QCOMPARE(walked.peakRounding.value, every.peakRounding.value);
        QCOMPARE(walked.microBatches, every.microBatches);
        QVERIFY(walked.peakPhase == every.peakPhase);
        QVERIFY(walked.phases == every.phases);
        QVERIFY(walked.components == every.components);
        QVERIFY(walked.steadyTensors == every.steadyTensors);
        QVERIFY(walked.peakTensors == every.peakTensors);
    }
}

void TestRepetition::cleanupTestCase()
{
    qInfo("%lld of %lld events walked", static_cast<long long>(m_walked), static_cast<long long>(m_all));
    QVERIFY(m_walked < m_all);
}

/// Between the micro-batches of a model in one piece nothing is alive that was not before, so the second repeats.
void TestRepetition::moreMicroBatchesCostNothing()
{
    const auto events = [](const QByteArray& microBatches) {
        InstantEstimator estimator;
        std::vector<StageFootprint> stages;
        const bool isEstimated
            = estimator.run(planOf("model.heads=16 framework=megatron-args batch.accum=" + microBatches), stages)
                  .has_value();
        return isEstimated ? replayStage(estimator.program(), estimator.program().stages[0]).events : 0;
    };
    QVERIFY(events("4") > 0);
    QCOMPARE(events("400"), events("4"));
}

QTEST_APPLESS_MAIN(TestRepetition)
#include "tst_repetition.moc"
