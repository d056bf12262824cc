// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/written_plan.h"
#include "insight/compare.h"

#include <QTest>

#include <algorithm>

using namespace headroom;
using test::planOf;

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

/// allocated and reserved in GiB, step time in seconds; 0: not in the log.
RunFigures figures(double allocated, double reserved, double seconds, std::optional<Phase> phase = Phase::Backward)
{
    RunFigures result;
    const auto bytes = [](double value) { return Bytes{static_cast<std::int64_t>(value * gib)}; };
    result.allocated = bytes(allocated);
    if (reserved > 0) {
        result.reserved = bytes(reserved);
    }
    if (seconds > 0) {
        result.stepSeconds = seconds;
    }
    result.peakPhase = phase;
    result.ranks = {0};
    return result;
}

const QByteArray base = "parallel.pp=2 parallel.dp=4 batch.micro=2 batch.accum=8 batch.global=64 batch.seq=1024 ";

} // namespace

Q_DECLARE_METATYPE(RunFigures)

class TestCompare : public QObject
{
    Q_OBJECT

private slots:
    void verdicts_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<RunFigures>("before");
        QTest::addColumn<RunFigures>("after");
        QTest::addColumn<QByteArray>("changes");
        QTest::addColumn<bool>("fires");
        const QByteArray recompute = "recompute.enabled=true recompute.granularity=full";
        QTest::newRow("pool kept") << "pool-kept-its-memory" << figures(60, 70, 0) << figures(40, 69, 0) << recompute
                                   << true;
        QTest::newRow("pool followed") << "pool-kept-its-memory" << figures(60, 70, 0) << figures(40, 50, 0)
                                       << recompute << false;
        QTest::newRow("no effect") << "no-effect" << figures(60, 70, 1) << figures(60, 70, 1) << recompute << true;
        QTest::newRow("an effect") << "no-effect" << figures(60, 70, 1) << figures(40, 70, 1) << recompute << false;
        QTest::newRow("nothing changed is no failure")
            << "no-effect" << figures(60, 70, 1) << figures(60, 70, 1) << QByteArray() << false;
        QTest::newRow("price") << "price-of-memory" << figures(60, 70, 1) << figures(40, 60, 1.3) << recompute << true;
        QTest::newRow("no price") << "price-of-memory" << figures(60, 70, 1) << figures(40, 60, 0.99) << recompute
                                  << false;
        QTest::newRow("price without gain")
            << "price-of-memory" << figures(60, 70, 1) << figures(60, 60, 1.3) << recompute << false;
        QTest::newRow("optimizer") << "peak-was-in-optimizer" << figures(60, 70, 1, Phase::Optimizer)
                                   << figures(60, 70, 1) << recompute << true;
        QTest::newRow("backward") << "peak-was-in-optimizer" << figures(60, 70, 1) << figures(50, 70, 1) << recompute
                                  << false;
        QTest::newRow("one variable") << "several-variables-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                      << recompute << false;
        QTest::newRow("two variables") << "several-variables-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                       << recompute + " batch.seq=2048" << true;
        QTest::newRow("pipeline alone") << "several-variables-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                        << QByteArray("parallel.pp=4 parallel.dp=2 batch.accum=16") << false;
        QTest::newRow("recompute written and off")
            << "several-variables-changed" << figures(60, 70, 1) << figures(50, 60, 1)
            << QByteArray("batch.seq=2048 recompute.enabled=false recompute.granularity=full recompute.num_layers=2")
            << false;
        QTest::newRow("micro-batch alone") << "several-variables-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                           << QByteArray("batch.micro=1 batch.accum=16") << false;
        QTest::newRow("global batch too") << "global-batch-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                          << QByteArray("batch.micro=1 batch.global=32") << true;
        QTest::newRow("global batch kept") << "global-batch-changed" << figures(60, 70, 1) << figures(50, 60, 1)
                                           << QByteArray("batch.micro=1 batch.accum=16") << false;
        QTest::newRow("rose") << "peak-rose" << figures(40, 0, 0) << figures(50, 0, 0)
                              << QByteArray("parallel.pp=4 parallel.dp=2 batch.accum=16") << true;
        QTest::newRow("did not rise") << "peak-rose" << figures(40, 0, 0) << figures(40.1, 0, 0)
                                      << QByteArray("parallel.pp=4 parallel.dp=2 batch.accum=16") << false;
    }

    void verdicts()
    {
        QFETCH(QString, id);
        QFETCH(RunFigures, before);
        QFETCH(RunFigures, after);
        QFETCH(QByteArray, changes);
        QFETCH(bool, fires);
        const TrainingPlan first = planOf(base);
        const TrainingPlan second = planOf(base + changes);
        const RunComparison comparison = compareRuns(before, after, &first, &second);
        const auto count = std::count_if(comparison.findings.begin(), comparison.findings.end(),
                                         [&](const Finding& finding) { return finding.id == id.toStdString(); });
        QCOMPARE(count, fires ? 1 : 0);
    }

    void saysThatRanksDiffer()
    {
        RunFigures after = figures(40, 0, 0);
        after.ranks = {7};
        const auto has = [](const RunComparison& comparison) {
            return std::any_of(comparison.findings.begin(), comparison.findings.end(),
                               [](const Finding& finding) { return finding.id == "other-ranks"; });
        };
        QVERIFY(has(compareRuns(figures(40, 0, 0), after, nullptr, nullptr)));
        QVERIFY(!has(compareRuns(figures(40, 0, 0), figures(40, 0, 0), nullptr, nullptr)));
    }

    /// What a log's arguments leave open is no change of the config beside it; what they list was in effect.
    void aLogSaysLessThanAConfig_data()
    {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<int>("ofOneKind");
        QTest::addColumn<int>("ofTwoKinds");
        const QByteArray recompute = "recompute.enabled=true recompute.granularity=full";
        QTest::newRow("the log says nothing") << QByteArray() << recompute << 1 << 0;
        QTest::newRow("the config says nothing") << recompute << QByteArray() << 1 << 1;
        QTest::newRow("they contradict each other")
            << QByteArray("recompute.enabled=false recompute.granularity=none") << recompute << 1 << 1;
        QTest::newRow("they agree") << recompute << recompute << 0 << 0;
    }

    void aLogSaysLessThanAConfig()
    {
        QFETCH(QByteArray, log);
        QFETCH(QByteArray, config);
        const TrainingPlan first = planOf(base + log);
        const TrainingPlan second = planOf(base + config);
        RunFigures estimated = figures(40, 0, 0);
        const auto changes
            = [&] { return compareRuns(figures(40, 0, 0), estimated, &first, &second).variables.size(); };
        QTEST(static_cast<int>(changes()), "ofOneKind");
        estimated.isEstimate = true;
        QTEST(static_cast<int>(changes()), "ofTwoKinds");
    }

    void takesTheSteadySteps()
    {
        Run run;
        run.files = {"a.log"};
        for (int i = 0; i < 21; ++i) {
            run.step.push_back(static_cast<std::uint32_t>(i));
            run.phase.push_back(1);
            run.rank.push_back(0);
            run.allocatedBytes.push_back(1000 + (i == 7 ? 5 : 0));
            run.line.push_back(static_cast<std::uint32_t>(i + 1));
            run.stepSeconds.records.push_back(static_cast<std::uint32_t>(i));
            run.stepSeconds.values.push_back(i < 2 ? 60.F : 1.5F);
        }
        const RunFigures result = RunFigures::of(run, summarise(run));
        QCOMPARE(*result.stepSeconds, 1.5);
        QCOMPARE(result.allocated->value, 1005);
        QVERIFY(!result.reserved && !result.tokensPerSecond);
    }
};

QTEST_APPLESS_MAIN(TestCompare)
#include "tst_compare.moc"
