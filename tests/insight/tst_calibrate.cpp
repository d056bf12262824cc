// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/written_plan.h"
#include "insight/saved_calibration.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <random>

using namespace headroom;
using test::planOf;

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

const QByteArray model = "framework=megatron-args model.layers=24 model.hidden=2048 model.heads=16 model.vocab=50304 "
                         "parallel.dp=8 shard.dist_opt=true ";

/// What a run with this plan would show if activations were `scale` of theory's and `offset` bytes came on top.
CalibrationPoint point(const QByteArray& settings, double scale, double offset, std::optional<Phase> phase = {},
                       std::size_t stage = 0)
{
    CalibrationPoint result{planOf(model + settings), stage, phase, {}, {}};
    Footprint footprint;
    Calibration truth;
    truth.activations = scale;
    truth.offset = Bytes{static_cast<std::int64_t>(offset)};
    const auto done = estimateInstantly(result.plan, truth, footprint);
    Q_ASSERT(done.has_value());
    const StageFootprint& fullest = footprint.stages[stage];
    result.allocated = phase ? fullest.phase(*phase) : fullest.peakAllocated;
    return result;
}

// Large enough that every peak is in backward.
const QList<QByteArray> shapes{"batch.micro=24 batch.seq=2048", "batch.micro=8 batch.seq=2048",
                               "batch.micro=16 batch.seq=2048", "batch.micro=6 batch.seq=4096",
                               "batch.micro=12 batch.seq=2048", "batch.micro=8 batch.seq=4096"};

std::vector<CalibrationPoint> pointsWith(double scale, double offset)
{
    std::vector<CalibrationPoint> points;
    for (const QByteArray& shape : shapes) {
        points.push_back(point(shape, scale, offset));
    }
    return points;
}

Run runOf(std::initializer_list<std::tuple<int, Phase, double>> records)
{
    Run run;
    run.files = {"a.log"};
    run.firstRecordOfFile = {0};
    std::uint32_t line = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
        for (const auto& [rank, phase, gib] : records) {
            run.step.push_back(static_cast<std::uint32_t>(repeat));
            run.phase.push_back(static_cast<std::uint8_t>(phase));
            run.rank.push_back(static_cast<std::int16_t>(rank));
            run.allocatedBytes.push_back(static_cast<std::int64_t>(gib * gibibyte));
            run.line.push_back(++line);
        }
    }
    return run;
}

} // namespace

Q_DECLARE_METATYPE(Run)

class TestCalibrate : public QObject
{
    Q_OBJECT

private slots:
    void findsTheTruth()
    {
        const auto result = calibrate(pointsWith(1.04, 0.3e9));
        QVERIFY(result);
        QVERIFY(std::abs(result->calibration.activations - 1.04) < 1e-3);
        QVERIFY(std::abs(double(result->calibration.offset.value) - 0.3e9) < 5e6);
        QVERIFY(std::abs(result->k / result->theoryK - 1.04) < 1e-3);
        QVERIFY(result->suspects.empty());
    }

    void intervalHoldsTheTruth()
    {
        const auto exact = pointsWith(1.04, 0.3e9);
        std::mt19937 random(20261130);
        std::normal_distribution<double> unit;
        int holds = 0;
        for (int trial = 0; trial < 1000; ++trial) {
            auto points = exact;
            for (CalibrationPoint& one : points) {
                one.allocated.value = std::llround(double(one.allocated.value) * (1 + 0.005 * unit(random)));
            }
            const auto result = calibrate(points);
            holds += result && result->activations.low <= 1.04 && result->activations.high >= 1.04 ? 1 : 0;
        }
        qInfo("the interval holds the truth in %d of 1000 trials", holds);
        QVERIFY2(holds >= 930 && holds <= 970, qPrintable(QString::number(holds)));
    }

    void predictsOtherSizes()
    {
        const auto result = calibrate(pointsWith(1.04, 0.3e9));
        const CalibrationPoint asked = point("batch.micro=8 batch.seq=8192", 1.04, 0.3e9);
        Footprint theory;
        QVERIFY(estimateInstantly(asked.plan, {}, theory));
        const auto [low, high] = result->predict(theory.fullest());
        QVERIFY(low <= asked.allocated && asked.allocated <= high);
        Footprint calibrated;
        QVERIFY(estimateInstantly(asked.plan, result->calibration, calibrated));
        QVERIFY(std::abs(double(calibrated.fullest().peakAllocated.value) / double(asked.allocated.value) - 1) < 1e-3);
    }

    void fewPointsLeanOnTheory()
    {
        const auto result = calibrate(std::vector{point("batch.micro=8 batch.seq=4096", 1.01, 0)});
        QVERIFY(result);
        QVERIFY(!result->remarks.empty());
        QVERIFY(result->calibration.activations > 1 && result->calibration.activations < 1.01);
        QVERIFY(result->activations.low < 1.01 && result->activations.high > 1.01);
    }

    void namesAWrongSetting_data()
    {
        QTest::addColumn<QByteArray>("real");
        QTest::addColumn<QByteArray>("stated");
        QTest::addColumn<QString>("named");
        QTest::newRow("recompute never loaded")
            << QByteArray("recompute.enabled=false") << QByteArray("recompute.enabled=true recompute.granularity=full")
            << "recompute is off";
        QTest::newRow("recompute on the command line")
            << QByteArray("recompute.enabled=true recompute.granularity=full") << QByteArray("recompute.enabled=false")
            << "every layer is recomputed";
        QTest::newRow("scores") << QByteArray("attention.impl=unfused") << QByteArray("attention.impl=flash")
                                << "attention stores its scores";
        QTest::newRow("sharded") << QByteArray("shard.dist_opt=true") << QByteArray("shard.dist_opt=false")
                                 << "the optimizer's state is sharded";
    }

    void namesAWrongSetting()
    {
        QFETCH(QByteArray, real);
        QFETCH(QByteArray, stated);
        QFETCH(QString, named);
        std::vector<CalibrationPoint> points;
        for (const QByteArray& shape : {shapes[1], shapes[2], shapes[3]}) {
            CalibrationPoint one = point(shape + " " + real, 1, 0);
            one.plan = planOf(model + shape + " " + stated);
            points.push_back(std::move(one));
        }
        const auto result = calibrate(points);
        QVERIFY(result);
        QVERIFY(!result->suspects.empty());
        QCOMPARE(QString::fromStdString(result->suspects.front().name.english()), named);
        QVERIFY(!result->calibration.scalesTapes()); // named, not absorbed
    }

    void refuses_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<Run>("run");
        QTest::addColumn<QString>("reason");
        const QByteArray two = model + "parallel.pp=2 parallel.dp=1 batch.micro=1 batch.seq=2048 ";
        const auto phases = [](int rank) {
            return runOf({{rank, Phase::Forward, 20}, {rank, Phase::Backward, 25}, {rank, Phase::Optimizer, 10}});
        };
        QTest::newRow("last stage only") << two << phases(1) << "only the last pipeline stage";
        QTest::newRow("no rank") << two << phases(-1) << "which rank";
        QTest::newRow("rank beyond the plan") << two << phases(7) << "rank 7";
        QTest::newRow("schedule") << QByteArray(two).replace("framework=megatron-args ", "") << phases(0) << "schedule";
        QTest::newRow("reserved only") << model + "batch.micro=1 batch.seq=2048"
                                       << runOf({{0, Phase::Forward, 0}, {0, Phase::Backward, 0}}) << "reserved";
    }

    void refuses()
    {
        QFETCH(QByteArray, settings);
        QFETCH(Run, run);
        QFETCH(QString, reason);
        const auto points = calibrationPoints(run, summarise(run), planOf(settings));
        QVERIFY(!points);
        QVERIFY2(QString::fromStdString(points.error().english()).contains(reason), points.error().english().c_str());
    }

    void takesThePeaksOfALog()
    {
        const TrainingPlan plan = planOf(model + "parallel.pp=2 parallel.dp=1 batch.micro=1 batch.seq=2048");
        const Run run = runOf({{0, Phase::Forward, 20},
                               {0, Phase::Backward, 25},
                               {0, Phase::Optimizer, 10},
                               {1, Phase::Forward, 18},
                               {1, Phase::Backward, 17},
                               {1, Phase::Optimizer, 11}});
        const auto points = calibrationPoints(run, summarise(run), plan);
        QVERIFY(points);
        QCOMPARE(points->size(), 6U);
        QCOMPARE((*points)[1].stage, 0U);
        QCOMPARE(*(*points)[1].phase, Phase::Backward);
        QCOMPARE((*points)[1].allocated.value, static_cast<std::int64_t>(25 * gibibyte));
        QCOMPARE((*points)[1].evidence.line, 2);
    }

    void isKept()
    {
        const auto points = pointsWith(1.04, 0.3e9);
        const auto found = calibrate(points);
        QVERIFY(found);
        const auto saved = savedCalibration("my: runs #1", "2026-11-30", points, *found);
        QVERIFY(saved);
        const QTemporaryDir folder;
        const auto path = calibrationPath("mine", folder.path().toStdString());
        QVERIFY(path);
        QVERIFY(writeCalibration(*saved, *path));
        QCOMPARE(calibrationFiles(folder.path().toStdString()), std::vector{*path});
        const auto read = readCalibration(*path);
        QVERIFY(read);
        QCOMPARE(read->name, std::string("my: runs #1"));
        QVERIFY(read->calibration == saved->calibration && read->settings == saved->settings);
        QCOMPARE(read->points, std::ssize(points));
        // Without activations only the offset is in doubt.
        const std::int64_t half = (found->offsetHigh - found->offsetLow).value / 2;
        QVERIFY(std::abs(read->calibration.spread->margin({}).value - half) <= 2);
        QVERIFY(doubtsOf(*read, points.front().plan).empty());
        QCOMPARE(doubtsOf(*read, planOf(model + "implementation.profile=hf-sdpa")).size(), 1U);
        for (const char* name : {"", "..", ".hidden"}) {
            QVERIFY(!calibrationPath(name, folder.path().toStdString()));
        }
    }

    void needsActivations()
    {
        QVERIFY(!calibrate({}));
        const auto result = calibrate(std::vector{point("batch.micro=1 batch.seq=128", 1, 0, Phase::Optimizer)});
        QVERIFY(!result);
        QVERIFY(QString::fromStdString(result.error().english()).contains("optimizer"));
    }
};

QTEST_APPLESS_MAIN(TestCalibrate)
#include "tst_calibrate.moc"
