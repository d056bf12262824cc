// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/theory_cases.h"
#include "insight/least_squares.h"

#include <QTest>

#include <random>

using namespace headroom;

namespace {

/// theory.md 9.2: a peak less its static state and six bytes per logit is k·x1 + c, with x1 = 2·b·s·h·L. Columns in GB.
LeastSquares::Measurement measurement(const nlohmann::json& inputs, const nlohmann::json& point)
{
    const double b = point.at("b");
    const double s = point.at("s");
    const double h = inputs.at("h");
    const double layers = inputs.at("L");
    const double vocabulary = inputs.at("V");
    const double peak = point.value("peak", 0.0);
    const double giga = 1e9;
    return {{2 * b * s * h * layers / giga, 1, 0},
            (peak - inputs.at("static").get<double>() - 6 * b * s * vocabulary) / giga,
            0.005 * peak / giga};
}

std::vector<LeastSquares::Measurement> measurementsOf(const nlohmann::json& inputs)
{
    std::vector<LeastSquares::Measurement> result;
    for (const auto& point : inputs.at("points")) {
        result.push_back(measurement(inputs, point));
    }
    return result;
}

bool isNear(double value, double expected)
{
    return std::abs(value - expected) <= 1e-6 * std::abs(expected);
}

} // namespace

class TestLeastSquares : public QObject
{
    Q_OBJECT

private slots:
    void givesTheTheorysNumbers()
    {
        const auto cases = test::theoryCases("K03");
        if (cases.empty()) {
            QSKIP("the theory's cases are not here");
        }
        const auto& inputs = cases.front().at("inputs");
        const auto& expected = cases.front().at("expected");
        const auto fit = LeastSquares::fit(measurementsOf(inputs), 2);
        QVERIFY(fit);
        QVERIFY(isNear(fit->value(0), expected.at("k")));
        QVERIFY(isNear(fit->value(1), expected.at("const_GB")));
        QVERIFY(isNear(fit->standardError(0), expected.at("k_se")));
        QVERIFY(isNear(fit->interval(0).low, expected.at("k_ci95")[0]));
        QVERIFY(isNear(fit->interval(0).high, expected.at("k_ci95")[1]));
        QVERIFY(isNear(*fit->reducedChiSquare(), expected.at("reduced_chi2")));

        const auto asked = measurement(inputs, {{"b", 4}, {"s", 4096}});
        const double rest = -asked.y; // static state and logits
        const double peak = fit->predict(asked.x) + rest;
        const RealInterval interval = fit->predictionInterval(asked.x, 0.005 * peak);
        QVERIFY(isNear(peak, expected.at("pred_GB")));
        QVERIFY(isNear(interval.low + rest, expected.at("pred_pi95_GB")[0]));
        QVERIFY(isNear(interval.high + rest, expected.at("pred_pi95_GB")[1]));
    }

    void weighsAPriorAgainstFewPoints()
    {
        const auto cases = test::theoryCases("K04");
        if (cases.empty()) {
            QSKIP("the theory's cases are not here");
        }
        const auto& inputs = cases.front().at("inputs");
        const auto& expected = cases.front().at("expected");
        const LeastSquares::Priors priors{LeastSquares::Prior{inputs.at("prior_k"), inputs.at("prior_k_sd")},
                                          LeastSquares::Prior{inputs.at("prior_c_GB"), inputs.at("prior_c_sd_GB")},
                                          std::nullopt};
        const auto fit = LeastSquares::fit(measurementsOf(inputs), 2, priors);
        QVERIFY(fit);
        QVERIFY(isNear(fit->value(0), expected.at("k")));
        QVERIFY(isNear(fit->value(1), expected.at("const_GB")));
        QVERIFY(isNear(fit->standardError(0), expected.at("k_sd")));
    }

    void intervalHoldsTheTruth()
    {
        // Six runs as in the theory's example, a thousand times with other noise.
        constexpr std::array<std::pair<double, double>, 6> shapes{
            {{1, 1024}, {2, 1024}, {1, 2048}, {2, 2048}, {4, 2048}, {2, 4096}}};
        std::mt19937 random(20261130);
        std::normal_distribution<double> unit;
        int holds = 0;
        for (int trial = 0; trial < 1000; ++trial) {
            std::vector<LeastSquares::Measurement> points;
            for (const auto& [b, s] : shapes) {
                const double x = 2 * b * s * 2048 * 24 / 1e9;
                const double peak = 3.2 + 17 * x + 0.35;
                const double sigma = 0.005 * peak;
                points.push_back({{x, 1, 0}, peak - 3.2 + sigma * unit(random), sigma});
            }
            const RealInterval interval = LeastSquares::fit(points, 2)->interval(0);
            holds += interval.low <= 17 && 17 <= interval.high ? 1 : 0;
        }
        QVERIFY2(holds >= 930 && holds <= 970, qPrintable(QString::number(holds)));
    }

    void refusesWhatIsNotDetermined()
    {
        // The same product of batch and sequence twice: the constant and the slope cannot be told apart.
        const std::vector<LeastSquares::Measurement> points{{{2, 1, 0}, 10, 1}, {{2, 1, 0}, 10.1, 1}};
        QVERIFY(!LeastSquares::fit(points, 2));
        QVERIFY(LeastSquares::fit(points, 1));
        QVERIFY(!LeastSquares::fit({}, 1));
    }

    void quantiles_data()
    {
        // Tables of Student's distribution.
        QTest::addColumn<int>("degrees");
        QTest::addColumn<double>("expected");
        QTest::newRow("none: normal") << 0 << 1.959964;
        QTest::newRow("1") << 1 << 12.706205;
        QTest::newRow("4") << 4 << 2.776445;
        QTest::newRow("10") << 10 << 2.228139;
        QTest::newRow("11") << 11 << 2.200985;
        QTest::newRow("30") << 30 << 2.042272;
        QTest::newRow("120") << 120 << 1.979930;
    }

    void quantiles()
    {
        QFETCH(int, degrees);
        QFETCH(double, expected);
        QVERIFY(std::abs(studentQuantile(degrees) - expected) < 1e-5);
    }
};

QTEST_APPLESS_MAIN(TestLeastSquares)
#include "tst_least_squares.moc"
