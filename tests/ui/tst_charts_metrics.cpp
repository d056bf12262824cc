// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the peaks chart shows below the peaks: step time, loss, timers.
#include "models/channels_model.h"
#include "ui/shown_peaks.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace headroom;
using namespace headroom::test;

namespace {

/// The four ranks with two timers: the forward of ranks 0 and 1 in step s takes 100 + 10 s and 200 + 10 s ms, the
/// optimizer of all ranks 5 ms.
Run withTimers()
{
    Run run = fourRanks();
    run.timerNames = {"forward compute", "optimizer"};
    const auto add = [&](std::uint32_t step, std::uint16_t name, std::int16_t rank, float seconds) {
        run.timers.step.push_back(step);
        run.timers.line.push_back(step * 100);
        run.timers.name.push_back(name);
        run.timers.rank.push_back(rank);
        run.timers.seconds.push_back(seconds);
        run.timers.leastSeconds.push_back(std::nanf(""));
    };
    for (std::uint32_t step = 1; step <= 10; ++step) {
        add(step, 0, 0, 0.1F + 0.01F * static_cast<float>(step));
        add(step, 0, 1, 0.2F + 0.01F * static_cast<float>(step));
        add(step, 1, -1, 0.005F);
    }
    return run;
}

Channel timer(const char* name, int rank = Channel::overRanks)
{
    return {name, rank, false, true};
}

} // namespace

class TestChartsMetrics : public QObject
{
    Q_OBJECT

private slots:
    static void init() { prepareChartTest(); }
    static void metricsAreGathered();
    static void stripsLineUp();
    static void timersAreGathered_data();
    static void timersAreGathered();
    static void timersAreListed();
    static void timersHaveAnAxisOfTheirOwn();
    static void timersAreSaved();
};

void TestChartsMetrics::metricsAreGathered()
{
    const auto lines = makeMetricLines(fourRanks());
    QCOMPARE(lines.size(), std::size_t{2}); // no tokens per second in this log
    QVERIFY(lines[0].metric == Metric::StepTime);
    QCOMPARE(lines[0].values[*lines[0].holdLast(8)], 2.0);
    QVERIFY(lines[1].metric == Metric::Loss);
    QCOMPARE(lines[1].values[*lines[1].holdLast(3)], 2.75); // not a number: the one before is held
    QCOMPARE(lines[1].steps.size(), std::size_t{9});
    QCOMPARE(makeMetricLines(fourRanks(), 3).size(), std::size_t{2}); // rank 3 is silent, rank 1 tells
    QVERIFY(makeMetricLines(Run()).empty());
    Run apart = fourRanks(); // speed on lines of its own
    apart.steps.step = {2, 5};
    apart.steps.seconds = {std::nanf(""), std::nanf("")};
    apart.steps.tokensPerSecond = {900, 1000};
    apart.steps.loss = {std::nan(""), std::nan("")};
    const auto withSpeed = makeMetricLines(apart);
    QCOMPARE(withSpeed.size(), std::size_t{3});
    QCOMPARE(withSpeed[1].values, (std::vector<double>{900, 1000}));
}

void TestChartsMetrics::stripsLineUp()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    ViewState* view = shown.chart.viewState();
    QCOMPARE(shown.plot->stripCount(), 0);
    const int rects = shown.plot->axisRectCount();
    view->setOn(ViewState::Switch::Metrics, true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->stripCount(), 2);
    QCOMPARE(shown.plot->axisRectCount(), rects + 2);
    for (int i = 1; i < shown.plot->axisRectCount(); ++i) {
        QCOMPARE(shown.plot->axisRect(i)->left(), shown.plot->axisRect(0)->left());
        QCOMPARE(shown.plot->axisRect(i)->right(), shown.plot->axisRect(0)->right());
    }
    view->setRange({3, 8});
    int linked = 0;
    for (QCPAxisRect* rect : shown.plot->axisRects())
        linked += rect->axis(QCPAxis::atBottom)->range() == QCPRange(3, 8) ? 1 : 0;
    QCOMPARE(linked, 3); // all but the overview
    view->setCursor(8);
    QCOMPARE(shown.valueOf(QStringLiteral("step time")), QStringLiteral("2 s"));
    QCOMPARE(shown.valueOf(QStringLiteral("loss")), QStringLiteral("2"));
    view->setOn(ViewState::Switch::Metrics, false);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->axisRectCount(), rects);
}

void TestChartsMetrics::timersAreGathered_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("rank");
    QTest::addColumn<int>("chosenRank");
    QTest::addColumn<double>("ofStep7"); // milliseconds; 0: no line
    QTest::newRow("the slowest rank") << QStringLiteral("forward compute") << -1 << -1 << 270.0;
    QTest::newRow("the chosen rank") << QStringLiteral("forward compute") << -1 << 0 << 170.0;
    QTest::newRow("a rank") << QStringLiteral("forward compute") << 1 << 0 << 270.0;
    QTest::newRow("over all ranks, whichever is chosen") << QStringLiteral("optimizer") << -1 << 3 << 5.0;
    QTest::newRow("a rank that has none") << QStringLiteral("optimizer") << 2 << -1 << 0.0;
    QTest::newRow("a timer that is not there") << QStringLiteral("backward") << -1 << -1 << 0.0;
}

void TestChartsMetrics::timersAreGathered()
{
    QFETCH(const QString, name);
    QFETCH(const int, rank);
    QFETCH(const int, chosenRank);
    QFETCH(const double, ofStep7);
    const std::optional<int> chosen = chosenRank < 0 ? std::nullopt : std::optional(chosenRank);
    const PeakSeries series = makePeakSeries(withTimers(), chosen, {{name.toStdString(), rank, false, true}});
    QVERIFY(series.added.empty()); // no line among the amounts of memory
    QCOMPARE(series.timers.empty(), ofStep7 == 0.0);
    if (!series.timers.empty())
        QVERIFY(std::abs(series.timers[0].values[*series.timers[0].holdLast(7)] * 1000 - ofStep7) < 0.01);
}

void TestChartsMetrics::timersAreListed()
{
    ViewState view;
    ChannelsModel model(view);
    const auto run = std::make_shared<const Run>(withTimers());
    model.setRows(run, channelRows(*run));
    QStringList listed;
    for (int row = 0; row < model.rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column)
            cells += model.index(row, column).data().toString();
        if (model.row(row).channel.isTimer)
            listed += cells.join(u'|');
    }
    QCOMPARE(listed,
             (QStringList{QStringLiteral("forward compute|all, maximum|time|300 ms|10"),
                          QStringLiteral("optimizer|all, maximum|time|5 ms|1"),
                          QStringLiteral("forward compute|rank 0|time|200 ms|10"),
                          QStringLiteral("forward compute|rank 1|time|300 ms|10")}));
    QVERIFY(!view.isShown(timer("optimizer")));
    QCOMPARE(model.show({timer("optimizer")}), 0);
    QVERIFY(view.isShown(timer("optimizer")));
    view.setShown({"optimizer", Channel::overRanks, false}, false); // the phase of that name is another line
    QVERIFY(view.isShown(timer("optimizer")));
}

void TestChartsMetrics::timersHaveAnAxisOfTheirOwn()
{
    ShownPeaks shown(withTimers());
    QVERIFY(shown.isReady());
    ViewState* view = shown.chart.viewState();
    const int rects = shown.plot->axisRectCount();
    view->setShown(timer("forward compute"), true);
    view->setShown(timer("optimizer"), true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->stripCount(), 1); // both in one, without the switch for step time and loss
    QCOMPARE(shown.plot->axisRectCount(), rects + 1);
    const QCPAxisRect* strip = shown.plot->axisRect(1);
    QCOMPARE(strip->left(), shown.plot->axisRect(0)->left());
    QCOMPARE(strip->right(), shown.plot->axisRect(0)->right());
    QVERIFY(strip->axis(QCPAxis::atLeft)->range().contains(300)); // milliseconds
    QVERIFY(!strip->axis(QCPAxis::atLeft)->range().contains(600));
    view->setCursor(4);
    QCOMPARE(shown.valueOf(QStringLiteral("forward compute")), QStringLiteral("240 ms"));
    QCOMPARE(shown.valueOf(QStringLiteral("optimizer")), QStringLiteral("5 ms"));
    view->setOn(ViewState::Switch::Metrics, true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->stripCount(), 3);
    view->setShown({timer("forward compute"), timer("optimizer")}, false);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->stripCount(), 2);
}

void TestChartsMetrics::timersAreSaved()
{
    ShownPeaks shown(withTimers());
    QVERIFY(shown.isReady());
    shown.chart.viewState()->setShown(timer("forward compute", 1), true);
    shown.chart.viewState()->setShown(timer("optimizer"), true);
    shown.chart.viewState()->setRange({3, 4});
    QVERIFY(shown.isReady());
    const QStringList lines = shown.chart.values().split(u'\n');
    QVERIFY2(lines[0].endsWith(QStringLiteral("\tloss\toptimizer_seconds\tforward_compute_rank1_seconds\tline")),
             qPrintable(lines[0]));
    QCOMPARE(lines[2].section(u'\t', -3, -3).toDouble(), 0.005);
    QCOMPARE(lines[2].section(u'\t', -2, -2).toDouble(), 0.24);
}

QTEST_MAIN(TestChartsMetrics)
#include "tst_charts_metrics.moc"
