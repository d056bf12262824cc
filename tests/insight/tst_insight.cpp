// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/insight_fixture.h"

#include "footprint/estimate.h"

#include <QTest>

using namespace headroom;

/// The engine of findings: order, mends, and that nothing crashes it.
class TestInsight : public QObject
{
    Q_OBJECT

private slots:
    void mendsPredictWhatTheEstimateSays();
    void theWorstComesFirst();
    void nothingOpenSaysNothing();
    void doubledStagesTakeTheGpusAlong();
    void absurdSizesAreNoCrash_data();
    void absurdSizesAreNoCrash();
};

void TestInsight::mendsPredictWhatTheEstimateSays()
{
    const TrainingPlan plan = planOf("batch.accum=8 batch.global=16 parallel.pp=2");
    const Run run = runOf("f 10 b 20 o 9 / f 10 b 20 o 9");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "peak-in-backward");
    QVERIFY(finding != nullptr && finding->mend && finding->mend->predictedPeak);
    const TrainingPlan recomputed
        = planOf("batch.accum=8 batch.global=16 parallel.pp=2 recompute.enabled=true recompute.granularity=full");
    Footprint after;
    QVERIFY(estimate(recomputed, {}, after).has_value());
    QCOMPARE(finding->mend->predictedPeak->value, after.fullest().device.value);
    QVERIFY(after.fullest().device < footprint.fullest().device);
    // The layers run forward twice: a third more at most, less by what the output layer takes (theory.md 8.2).
    QVERIFY(finding->mend->stepTime.has_value());
    QVERIFY(finding->mend->stepTime->ratio > 1.15 && finding->mend->stepTime->ratio < 1.3334);
    QCOMPARE(finding->mend->stepTime->mainPart(), StepPart::Recompute);
    QCOMPARE(finding->mend->stepTime->gpus, 1.0);
}

void TestInsight::theWorstComesFirst()
{
    const TrainingPlan plan = planOf("batch.micro=16 batch.accum=8 batch.global=16 parallel.dp=2 parallel.pp=5");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    const auto findings = diagnose(situation);
    QCOMPARE(findings.front().id, std::string("micro-batch-is-global-batch"));
    QVERIFY(std::is_sorted(findings.begin(), findings.end(),
                           [](const Finding& a, const Finding& b) { return a.severity < b.severity; }));
}

void TestInsight::nothingOpenSaysNothing()
{
    QVERIFY(diagnose({}).empty());
    const Run empty = readLogText("", "empty.log");
    Situation situation;
    situation.run = &empty;
    QVERIFY(diagnose(situation).empty());
}

void TestInsight::doubledStagesTakeTheGpusAlong()
{
    const TrainingPlan plan = planOf("parallel.pp=2 parallel.dp=2 parallel.world=4 batch.accum=1");
    const Run run = runOf("f 20 b 30 o 38 / f 20 b 30 o 38");
    Footprint footprint;
    QVERIFY(estimate(plan, {}, footprint).has_value());
    Situation situation;
    situation.plan = &plan;
    situation.footprint = &footprint;
    situation.run = &run;
    const auto findings = diagnose(situation);
    const Finding* finding = find(findings, "peak-in-optimizer");
    QVERIFY(finding != nullptr);
    QCOMPARE(editsText(*finding), std::string("parallel.pp=4 parallel.world=8"));
}

void TestInsight::absurdSizesAreNoCrash_data()
{
    QTest::addColumn<QByteArray>("settings");
    // 2^62 × 4 is 0 in 64 bits.
    QTest::newRow("micro-batch") << QByteArray(
        "batch.micro=4611686018427387904 parallel.dp=4 batch.accum=8 batch.global=16");
    QTest::newRow("accumulation") << QByteArray("batch.accum=9223372036854775807 batch.global=16");
    QTest::newRow("stages") << QByteArray("parallel.pp=4611686018427387904");
    QTest::newRow("layers and stages") << QByteArray("model.layers=1000000000000000000 parallel.pp=300000000000");
    QTest::newRow("GPUs") << QByteArray("parallel.world=9223372036854775807");
}

void TestInsight::absurdSizesAreNoCrash()
{
    QFETCH(QByteArray, settings);
    const TrainingPlan plan = planOf(settings);
    const Run run = runOf("f 20 b 30 o 38 / f 20 b 30 o 38");
    Situation situation;
    situation.plan = &plan;
    situation.run = &run;
    const auto findings = diagnose(situation);
    QVERIFY(find(findings, "peak-in-optimizer") != nullptr);
    QVERIFY(find(findings, "global-batch-mismatch") == nullptr);
}

QTEST_APPLESS_MAIN(TestInsight)
#include "tst_insight.moc"
