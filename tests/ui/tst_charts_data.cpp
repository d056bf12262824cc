// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the charts are drawn from: gathering a run per phase and step, and the view they share.
#include "charts/gib_text.h"
#include "charts/peak_series.h"
#include "ui/chart_data.h"
#include "workspace/view_state.h"

#include <QLocale>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

using namespace headroom;
using test::RunBuilder;

class TestChartsData : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral(".*")));
        QLocale::setDefault(QLocale::c());
    }
    void holdsTheLastValue_data();
    void holdsTheLastValue();
    void takesTheMaximumOfRanks();
    void takesOneRank();
    void sortsRunsOutOfOrder();
    void phasesOfOtherNamesHaveLines();
    void reducingKeepsSpikes_data();
    void reducingKeepsSpikes();
    void viewZoomsAboutAPoint();
    void viewStaysInBounds_data();
    void viewStaysInBounds();
    void viewGoesBackAndForward();
    void aDragIsOneStop();
    void newBoundsKeepAZoom();
    void texts_data();
    void texts();
};

void TestChartsData::holdsTheLastValue_data()
{
    QTest::addColumn<qint64>("step");
    QTest::addColumn<int>("index"); // -1: none
    QTest::newRow("before the first") << qint64(4) << -1;
    QTest::newRow("at the first") << qint64(5) << 0;
    QTest::newRow("between") << qint64(19) << 0;
    QTest::newRow("nearer to the next") << qint64(19) << 0;
    QTest::newRow("at the second") << qint64(20) << 1;
    QTest::newRow("after the last") << qint64(1'000'000'000'000) << 2;
    QTest::newRow("negative") << qint64(-1) << -1;
}

void TestChartsData::holdsTheLastValue()
{
    QFETCH(qint64, step);
    QFETCH(int, index);
    const StepLine line{{5, 20, 30}, {1, 2, 3}, {0, 1, 2}};
    const auto held = line.holdLast(step);
    QCOMPARE(held ? static_cast<int>(*held) : -1, index);
}

void TestChartsData::takesTheMaximumOfRanks()
{
    const Run run = RunBuilder()
                        .add(1, 0, 0, gib(3), gib(7).value)
                        .add(1, 0, 1, gib(5))
                        .add(1, 1, 1, gib(4), gib(9).value)
                        .add(2, 0, 0, gib(2))
                        .run;
    const PeakSeries series = makePeakSeries(run);
    QCOMPARE(series.phases.size(), std::size_t{2});
    const StepLine& forward = series.phases[0].line;
    QCOMPARE(series.phases[0].name, std::string("forward"));
    QCOMPARE(forward.steps, (std::vector<std::uint32_t>{1, 2}));
    QCOMPARE(forward.bytes, (std::vector<std::int64_t>{gib(5).value, gib(2).value}));
    QCOMPARE(forward.records, (std::vector<std::uint32_t>{1, 3}));
    QCOMPARE(series.overall.bytes.front(), gib(5).value);
    QCOMPARE(series.reserved.bytes, (std::vector<std::int64_t>{gib(9).value}));
    QCOMPARE(series.ranks, (std::vector<std::int32_t>{0, 1}));
}

void TestChartsData::takesOneRank()
{
    const Run run = RunBuilder().add(1, 0, 0, gib(3)).add(1, 0, 1, gib(5)).add(2, 0, 1, gib(6)).run;
    const PeakSeries series = makePeakSeries(run, 0);
    QCOMPARE(series.phases.size(), std::size_t{1});
    QCOMPARE(series.phases[0].line.bytes, (std::vector<std::int64_t>{gib(3).value}));
    QCOMPARE(series.ranks, (std::vector<std::int32_t>{0, 1}));
    QVERIFY(makePeakSeries(run, 7).isEmpty());
    QVERIFY(makePeakSeries(Run()).isEmpty());
}

void TestChartsData::sortsRunsOutOfOrder()
{
    // One file a rank after another, and a restart that repeats step 2.
    const Run run = RunBuilder()
                        .add(1, 0, 0, gib(1))
                        .add(2, 0, 0, gib(2))
                        .add(3, 0, 0, gib(3))
                        .add(1, 0, 1, gib(4))
                        .add(2, 0, 1, gib(1))
                        .add(2, 0, 0, gib(9))
                        .run;
    const StepLine line = makePeakSeries(run).phases[0].line;
    QCOMPARE(line.steps, (std::vector<std::uint32_t>{1, 2, 3}));
    QCOMPARE(line.bytes, (std::vector<std::int64_t>{gib(4).value, gib(9).value, gib(3).value}));
    QCOMPARE(line.records, (std::vector<std::uint32_t>{3, 5, 2}));
}

void TestChartsData::phasesOfOtherNamesHaveLines()
{
    RunBuilder builder;
    builder.run.phaseNames.emplace_back("validation");
    builder.add(1, 3, 0, gib(3));
    const PeakSeries series = makePeakSeries(builder.run);
    QCOMPARE(series.phases.size(), std::size_t{1});
    QCOMPARE(series.phases[0].name, std::string("validation"));
}

void TestChartsData::reducingKeepsSpikes_data()
{
    QTest::addColumn<std::size_t>("spike");
    QTest::newRow("first") << std::size_t{0};
    QTest::newRow("inside") << std::size_t{123'457};
    QTest::newRow("last") << std::size_t{999'999};
}

void TestChartsData::reducingKeepsSpikes()
{
    QFETCH(std::size_t, spike);
    StepLine line;
    for (std::uint32_t step = 0; step < 1'000'000; ++step) {
        line.steps.push_back(step);
        line.bytes.push_back(step % 2 == 0 ? 10 : 11);
        line.records.push_back(step);
    }
    line.bytes[spike] = 99;
    line.bytes[500'000] = 1; // a dip as well
    const StepLine few = reduced(line, 1000);
    QVERIFY(few.size() <= 2000);
    QVERIFY(std::is_sorted(few.steps.begin(), few.steps.end()));
    const auto highest = std::max_element(few.bytes.begin(), few.bytes.end());
    QCOMPARE(*highest, std::int64_t{99});
    QCOMPARE(few.steps[static_cast<std::size_t>(highest - few.bytes.begin())], static_cast<std::uint32_t>(spike));
    QCOMPARE(*std::min_element(few.bytes.begin(), few.bytes.end()), std::int64_t{1});
}

void TestChartsData::viewZoomsAboutAPoint()
{
    ViewState view;
    view.setBounds({0, 1000});
    QVERIFY(view.isFitted());
    view.zoom(0.5, 200);
    QCOMPARE(view.range(), (StepRange{100, 600})); // 200 stays at a fifth
    view.zoom(2, 200);
    QCOMPARE(view.range(), (StepRange{0, 1000}));
    for (int i = 0; i < 100; ++i)
        view.zoom(0.5, 200);
    QCOMPARE(view.range().span(), ViewState::minimumSpan);
    QVERIFY(view.range().first <= 200 && view.range().last >= 200);
    for (int i = 0; i < 100; ++i)
        view.zoom(2, 200);
    QVERIFY(view.isFitted());
}

void TestChartsData::viewStaysInBounds_data()
{
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("last");
    QTest::addColumn<double>("shownFirst");
    QTest::addColumn<double>("shownLast");
    const double infinite = std::numeric_limits<double>::infinity();
    QTest::newRow("inside") << 10.0 << 20.0 << 10.0 << 20.0;
    QTest::newRow("left of it") << -30.0 << -10.0 << 0.0 << 20.0;
    QTest::newRow("right of it") << 95.0 << 115.0 << 80.0 << 100.0;
    QTest::newRow("too wide") << -1e300 << 1e300 << 0.0 << 100.0;
    QTest::newRow("the wrong way round") << 20.0 << 10.0 << 10.0 << 20.0;
    QTest::newRow("nothing") << 50.0 << 50.0 << 49.0 << 51.0;
    QTest::newRow("infinite") << 1.0 << infinite << 0.0 << 100.0;
    QTest::newRow("not a number") << std::nan("") << 3.0 << 0.0 << 100.0;
}

void TestChartsData::viewStaysInBounds()
{
    QFETCH(double, first);
    QFETCH(double, last);
    QFETCH(double, shownFirst);
    QFETCH(double, shownLast);
    ViewState view;
    view.setBounds({0, 100});
    view.setRange({first, last});
    QCOMPARE(view.range().first, shownFirst);
    QCOMPARE(view.range().last, shownLast);
}

void TestChartsData::viewGoesBackAndForward()
{
    ViewState view;
    view.setBounds({0, 100});
    QVERIFY(!view.canGoBack());
    view.back();
    view.setRange({10, 20});
    view.setRange({12, 18});
    view.back();
    QCOMPARE(view.range(), (StepRange{10, 20}));
    view.back();
    QVERIFY(view.isFitted());
    view.forward();
    QCOMPARE(view.range(), (StepRange{10, 20}));
    view.setRange({50, 60}); // a new way: forward is gone
    QVERIFY(!view.canGoForward());
    for (int i = 0; i < 500; ++i)
        view.setRange({double(i % 90), double(i % 90) + 5});
    int stops = 0;
    while (view.canGoBack()) {
        view.back();
        ++stops;
    }
    QCOMPARE(stops, static_cast<int>(ViewState::historyLimit) - 1);
}

void TestChartsData::aDragIsOneStop()
{
    ViewState view;
    view.setBounds({0, 100});
    view.setRange({10, 20});
    view.pan(1);
    for (int i = 0; i < 30; ++i)
        view.pan(1, ViewState::Gesture::Continued);
    QCOMPARE(view.range(), (StepRange{41, 51}));
    view.back();
    QCOMPARE(view.range(), (StepRange{10, 20}));
}

void TestChartsData::newBoundsKeepAZoom()
{
    ViewState view;
    QSignalSpy ranges(&view, &ViewState::rangeChanged);
    view.setBounds({0, 100});
    view.setBounds({0, 110}); // everything stays everything
    QVERIFY(view.isFitted());
    view.setRange({10, 20});
    view.setBounds({0, 120});
    QCOMPARE(view.range(), (StepRange{10, 20}));
    view.back();
    QVERIFY(view.isFitted()); // of the new bounds
    view.setRange({10, 20});
    view.setBounds({500, 600}); // another run altogether
    QVERIFY(view.isFitted());
    view.setBounds({7, 7});
    QVERIFY(view.range().first < 7 && view.range().last > 7);
    QCOMPARE(ranges.count(), 7);
}

void TestChartsData::texts_data()
{
    QTest::addColumn<qint64>("bytes");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("difference");
    QTest::newRow("nothing") << qint64(0) << QStringLiteral("0 B") << QStringLiteral("±0 B");
    QTest::newRow("bytes") << qint64(1023) << QStringLiteral("1023 B") << QStringLiteral("+1023 B");
    QTest::newRow("MiB") << qint64(mib(512).value) << QStringLiteral("512.0 MiB") << QStringLiteral("+512.0 MiB");
    QTest::newRow("GiB") << qint64(gib(80).value) << QStringLiteral("80.00 GiB") << QStringLiteral("+80.00 GiB");
    QTest::newRow("less") << qint64(-gib(3).value) << QStringLiteral("-3.00 GiB") << QStringLiteral("−3.00 GiB");
    QTest::newRow("least") << std::numeric_limits<qint64>::min() << QStringLiteral("-8589934592.00 GiB")
                           << QStringLiteral("−8589934592.00 GiB");
}

void TestChartsData::texts()
{
    QFETCH(qint64, bytes);
    QFETCH(QString, text);
    QFETCH(QString, difference);
    QCOMPARE(bytesText({bytes}), text);
    QCOMPARE(differenceText({bytes}), difference);
}

QTEST_GUILESS_MAIN(TestChartsData)
#include "tst_charts_data.moc"
