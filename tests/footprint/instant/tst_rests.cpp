// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/estimator.h"
#include "footprint/instant/rests.h"
#include "footprint/plans.h"

#include <QTest>

using namespace headroom;

/// When tensors that share segments of 20 MiB leave rests of up to 1 MiB there (theory.md 6.3).
class TestRests : public QObject
{
    Q_OBJECT
private slots:
    void areLeft_data();
    void areLeft();
    void areNotPlacedForTheBench_data();
    void areNotPlacedForTheBench();
};

void TestRests::areLeft_data()
{
    QTest::addColumn<std::vector<std::int64_t>>("kibibytes"); // of tensors
    QTest::addColumn<bool>("areLeft");
    const auto row = [](const char* name, std::vector<std::int64_t> kibibytes, bool areLeft) {
        QTest::newRow(name) << std::move(kibibytes) << areLeft;
    };
    row("small ones, and those with segments of their own", {1024, 10 * 1024, 11 * 1024}, false);
    row("six of 3 MiB leave 2 MiB", {3 * 1024}, false);
    row("three of 6.5 MiB leave half a MiB", {6656}, true);
    row("7 MiB leave 6 or 13 MiB", {7 * 1024}, false);
    row("7 + 7 + 5.5 MiB leave half a MiB", {7 * 1024, 5632}, true);
    row("8 + 8 + 3 MiB leave 1 MiB", {8 * 1024, 3 * 1024}, true);
    row("powers of two leave at least 2 MiB", {2 * 1024, 4 * 1024, 8 * 1024}, false);
    row("four of 5 MiB leave nothing", {5 * 1024}, false);
    row("five sizes are not combined", {2 * 1024, 4 * 1024, 6 * 1024, 8 * 1024, 2 * 1024 + 512}, true);
}

void TestRests::areLeft()
{
    QFETCH(std::vector<std::int64_t>, kibibytes);
    ModelProgram program;
    Piece& piece = program.pieces.emplace_back();
    for (const std::int64_t size : kibibytes) {
        piece.tape.saved.emplace_back().bytes = size * 1024;
    }
    QTEST(leavesRests(program), "areLeft");
    program.usesExpandableSegments = true; // which grow as they are needed
    QVERIFY(!leavesRests(program));
}

void TestRests::areNotPlacedForTheBench_data()
{
    QTest::addColumn<int>("microBatch"); // keys and values take so many MiB each, the rest multiples of 8 MiB
    for (int microBatch = 1; microBatch <= 8; ++microBatch) {
        QTest::addRow("micro-batch %d", microBatch) << microBatch;
    }
}

/// To place them takes a thousand times as long as all else.
void TestRests::areNotPlacedForTheBench()
{
    QFETCH(int, microBatch);
    TrainingPlan plan = test::llama2Of70BOverStages();
    plan.batch.micro.value = microBatch;
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    QVERIFY(estimator.run(plan, stages));
    QVERIFY(!leavesRests(estimator.program()));
}

QTEST_GUILESS_MAIN(TestRests)
#include "tst_rests.moc"
