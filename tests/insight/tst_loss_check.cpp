// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/loss_check.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace headroom;

namespace {

/// A training run as runs look: a loss that falls smoothly, and the luck of each batch on top. Two runs with the same
/// `data` seed see the same batches.
struct Course
{
    int steps = 120;
    unsigned data = 1;
    double batchNoise = 0.04;
    double rounding = 0; ///< standard deviation of what summing in another order does
    unsigned roundingSeed = 0;
};

std::vector<double> losses(const Course& course)
{
    std::mt19937 data(course.data);
    std::mt19937 rounding(course.roundingSeed);
    std::normal_distribution<double> unit;
    std::vector<double> result;
    for (int step = 0; step < course.steps; ++step) {
        const double smooth = 3 + 7.5 * std::exp(-step / 25.0);
        result.push_back(smooth + course.batchNoise * unit(data) + course.rounding * unit(rounding));
    }
    return result;
}

LossSeries series(std::vector<double> values, std::int64_t firstStep = 1)
{
    std::vector<std::int64_t> steps(values.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i] = firstStep + static_cast<std::int64_t>(i);
    }
    return LossSeries::of("a.jsonl", steps, std::move(values), steps);
}

/// The second run of a pair, made so that only one thing sets it apart from losses({data}).
std::vector<double> second(const QString& kind, unsigned seed)
{
    Course course{120, seed, 0.04, 1e-4, seed + 1000};
    if (kind == "identical") {
        course.rounding = 0;
    } else if (kind == "other batch") {
        course.data = seed + 5000;
        course.batchNoise *= 2; // a quarter of the samples
    } else if (kind == "other data") {
        course.data = seed + 5000;
    } else if (kind == "shifted") {
        course.steps = 121;
    }
    std::vector<double> values = losses(course);
    if (kind == "shifted") {
        values.erase(values.begin());
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (kind == "drift") {
            values[i] += 0.004 * static_cast<double>(i);
        } else if (kind == "scaled") {
            values[i] *= 8;
        }
    }
    return values;
}

} // namespace

class TestLossCheck : public QObject
{
    Q_OBJECT

private slots:
    void namesWhatSetsRunsApart_data()
    {
        QTest::addColumn<LossVerdict>("expected");
        QTest::newRow("identical") << LossVerdict::Identical;
        QTest::newRow("noise") << LossVerdict::Noise;
        QTest::newRow("drift") << LossVerdict::Drift;
        QTest::newRow("shifted") << LossVerdict::Shifted;
        QTest::newRow("scaled") << LossVerdict::Scaled;
        QTest::newRow("other data") << LossVerdict::OtherData;
        QTest::newRow("other batch") << LossVerdict::OtherBatch;
    }

    void namesWhatSetsRunsApart()
    {
        QFETCH(LossVerdict, expected);
        int right = 0;
        for (unsigned seed = 1; seed <= 50; ++seed) {
            const auto comparison
                = compareLosses(series(losses({120, seed, 0.04, 0, 0})), series(second(QTest::currentDataTag(), seed)));
            QVERIFY(comparison);
            right += comparison->verdict == expected ? 1 : 0;
        }
        // At most one pair in fifty may be called by another name.
        qInfo("%d of 50 pairs named", right);
        QVERIFY2(right >= 49, qPrintable(QString("%1 of 50").arg(right)));
    }

    void callsNothingWrongThatIsOnlyNoise()
    {
        int alarms = 0;
        for (unsigned seed = 1; seed <= 500; ++seed) {
            const auto comparison = compareLosses(series(losses({30, seed, 0.04, 0, 0})),
                                                  series(losses({30, seed, 0.04, 1e-3, seed + 7})));
            QVERIFY(comparison);
            alarms += comparison->holds() ? 0 : 1;
        }
        qInfo("%d false alarms in 500 pairs", alarms);
        QVERIFY2(alarms <= 10, qPrintable(QString("%1 of 500").arg(alarms)));
    }

    void toleranceFollowsTheLoss()
    {
        const auto large = compareLosses(series({8.0, 8.0, 8.0, 8.0}), series({8.001, 8.001, 8.001, 8.001}));
        QCOMPARE(large->verdict, LossVerdict::Noise);
        const auto small = compareLosses(series({0.008, 0.008, 0.008, 0.008}), series({0.009, 0.009, 0.009, 0.009}));
        QVERIFY(!small->holds());
    }

    void aStatedToleranceRules()
    {
        LossOptions strict;
        strict.tolerance = 1e-4;
        const auto comparison
            = compareLosses(series({8.0, 8.0, 8.0, 8.0}), series({8.001, 8.0012, 8.0009, 8.001}), strict);
        QCOMPARE(comparison->verdict, LossVerdict::Different);
        QCOMPARE(comparison->departsAt, std::optional<std::int64_t>(1));
    }

    void alignsByStep()
    {
        const auto first = LossSeries::of("a", {1, 2, 3, 5, 5, 6}, {9, 8, 7, 6, 6.5, 6}, {1, 2, 3, 4, 5, 6});
        QCOMPARE(first.duplicates, 1);
        QCOMPARE(first.missing, 1);
        QCOMPARE(first.losses[3], 6.5);
        QCOMPARE(first.lines[3], 5);
        const auto second = LossSeries::of("b", {6, 2, 3, 9}, {6, 8, 7, NAN}, {1, 2, 3, 4});
        QCOMPARE(second.notFinite, 1);
        const auto comparison = compareLosses(first, second);
        QCOMPARE(comparison->steps, (std::vector<std::int64_t>{2, 3, 6}));
        QCOMPARE(comparison->verdict, LossVerdict::Identical);
    }

    void needsCommonSteps()
    {
        const auto comparison = compareLosses(series({1, 2, 3}), series({1, 2, 3}, 100));
        QVERIFY(!comparison);
        QVERIFY(QString::fromStdString(comparison.error().english()).contains("in common"));
    }
};

QTEST_APPLESS_MAIN(TestLossCheck)
#include "tst_loss_check.moc"
