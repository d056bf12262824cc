// SPDX-License-Identifier: GPL-3.0-or-later
//
// The heat map of the ranks.
#include "charts/ranks_chart.h"
#include "charts/ranks_plot.h"
#include "theme/theme.h"
#include "ui/chart_data.h"
#include "ui/shown_chart.h"
#include "workspace/view_state.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace headroom;
using namespace headroom::test;

class TestChartsRanks : public QObject
{
    Q_OBJECT

private slots:
    static void init() { prepareChartTest(); }
    static void gridHoldsThePeaks_data();
    static void gridHoldsThePeaks();
    static void narrowCellsCarryNoNumbers();
    static void heatMapChoosesRanks();
    static void heatMapCoversTheStepsInView();
    static void heatMapIsSaved();
};

void TestChartsRanks::gridHoldsThePeaks_data()
{
    QTest::addColumn<bool>("isReserved");
    QTest::addColumn<int>("groups");
    QTest::addColumn<double>("first");
    QTest::addColumn<double>("last");
    QTest::addColumn<int>("row");
    QTest::addColumn<int>("column");
    QTest::addColumn<qint64>("gibytes"); // -1: none
    QTest::newRow("forward") << false << 0 << 0.0 << 100.0 << 2 << 0 << qint64{12};
    QTest::newRow("backward") << false << 0 << 0.0 << 100.0 << 2 << 1 << qint64{32};
    QTest::newRow("backward of some steps") << false << 0 << 2.0 << 4.0 << 2 << 1 << qint64{26};
    QTest::newRow("no steps") << false << 0 << 50.0 << 60.0 << 2 << 1 << qint64{-1};
    QTest::newRow("reserved") << true << 0 << 0.0 << 100.0 << 3 << 0 << qint64{33};
    QTest::newRow("a step to a column") << false << 10 << 1.0 << 11.0 << 0 << 4 << qint64{25};
    QTest::newRow("five steps to a column") << false << 2 << 1.0 << 11.0 << 1 << 1 << qint64{31};
}

void TestChartsRanks::gridHoldsThePeaks()
{
    QFETCH(const bool, isReserved);
    QFETCH(const int, groups);
    QFETCH(const double, first);
    QFETCH(const double, last);
    QFETCH(const int, row);
    QFETCH(const int, column);
    QFETCH(const qint64, gibytes);
    const Run run = fourRanks();
    const PeakGrid grid = makePeakGrid(run, {{first, last}, static_cast<std::size_t>(groups), isReserved});
    QCOMPARE(grid.ranks, (std::vector<std::int32_t>{0, 1, 2, 3}));
    const std::int64_t record = grid.at(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
    QCOMPARE(record == PeakGrid::none, gibytes < 0);
    if (record != PeakGrid::none)
        QCOMPARE((isReserved ? run.reservedBytes : run.allocatedBytes)[static_cast<std::size_t>(record)],
                 gib(gibytes).value);
}

namespace {

struct ShownRanks
{
    ViewState view;
    RanksChart chart{view};
    RanksPlot* plot = chart.findChild<RanksPlot*>();

    explicit ShownRanks(Run run)
    {
        view.setBounds({1, 10});
        chart.resize(600, 300);
        chart.setCapacity(gib(40));
        chart.setRun(std::make_shared<Run>(std::move(run)));
        chart.show();
    }
    [[nodiscard]] bool isReady()
    {
        return QTest::qWaitForWindowExposed(&chart)
            && QTest::qWaitFor([this] { return chart.grid() != nullptr && !chart.isPreparing(); })
            && (plot->replot(QCustomPlot::rpImmediateRefresh), true);
    }
};

} // namespace

/// A narrow map keeps its colours; amounts and names that would run into each other go.
void TestChartsRanks::narrowCellsCarryNoNumbers()
{
    ShownRanks shown(fourRanks());
    QVERIFY(shown.isReady());
    const auto numbers = [&] { return shown.plot->numberCount(); };
    const auto isWhole = [&](const QString& name) { return shown.plot->shownNames().contains(name); };
    QTRY_COMPARE(numbers(), std::size_t{8});
    QVERIFY(isWhole(QStringLiteral("backward")));
    shown.chart.setFixedSize(190, 300);
    QTRY_COMPARE(numbers(), std::size_t{0});
    QTRY_VERIFY(!isWhole(QStringLiteral("backward")));
    shown.chart.setFixedSize(600, 300);
    QTRY_COMPARE(numbers(), std::size_t{8});
    QTRY_VERIFY(isWhole(QStringLiteral("backward")));
}

void TestChartsRanks::heatMapChoosesRanks()
{
    ShownRanks shown(fourRanks());
    QVERIFY(shown.isReady());
    const QPoint cell = shown.plot->centreOf(2, 1).toPoint();
    QTest::mouseMove(shown.plot, cell);
    QTRY_COMPARE(shown.plot->readout()->heading(), QStringLiteral("rank 2 · backward"));
    QCOMPARE(shown.plot->readout()->rows()[0].value, QStringLiteral("32.00 GiB"));
    QCOMPARE(shown.plot->readout()->rows()[1].value, QStringLiteral("80.0 %"));
    QTest::mouseClick(shown.plot, Qt::LeftButton, Qt::NoModifier, cell);
    QCOMPARE(shown.view.rank().value_or(-1), 2);
    shown.chart.setFocus();
    QTest::keyClick(&shown.chart, Qt::Key_Down);
    QCOMPARE(shown.view.rank().value_or(-1), 3);
    QSignalSpy activated(&shown.chart, &RanksChart::recordActivated);
    QTest::keyClick(&shown.chart, Qt::Key_Return);
    QCOMPARE(activated.size(), 1);
    QCOMPARE(activated[0][0].toLongLong(), qint64{79}); // the last record of all
    QTest::keyClick(&shown.chart, Qt::Key_Escape);
    QVERIFY(!shown.view.rank());
    // Fuller is another colour, in both themes.
    for (const ThemeChoice choice : {ThemeChoice::Dark, ThemeChoice::Light}) {
        applyTheme(*qApp, choice);
        QVERIFY(shown.plot->colorOf(gib(39)) != shown.plot->colorOf(gib(20)));
        QCOMPARE(shown.plot->colorOf(gib(50)), shown.plot->colorOf(gib(40)));
    }
}

void TestChartsRanks::heatMapCoversTheStepsInView()
{
    ShownRanks shown(fourRanks());
    QVERIFY(shown.isReady());
    shown.view.setRange({2, 4});
    QTRY_VERIFY(!shown.chart.isPreparing());
    QVERIFY(shown.isReady());
    QVERIFY(shown.chart.values().contains(QStringLiteral("2\tbackward\t%1\t").arg(gib(26).value)));
    shown.view.setOn(ViewState::Switch::Link, false);
    QTRY_VERIFY(shown.chart.values().contains(QStringLiteral("2\tbackward\t%1\t").arg(gib(32).value)));
    shown.chart.setBySteps(true);
    QTRY_VERIFY(shown.chart.values().contains(QStringLiteral("2\t4\t%1\t").arg(gib(26).value)));
}

void TestChartsRanks::heatMapIsSaved()
{
    ShownRanks shown(fourRanks());
    QVERIFY(shown.isReady());
    const QTemporaryDir folder;
    for (const char* name : {"ranks.png", "ranks.pdf", "ranks.svg"}) {
        const QString path = folder.filePath(QString::fromLatin1(name));
        const auto saved = shown.chart.saveImage(path);
#ifndef HEADROOM_HAS_SVG
        if (path.endsWith(QStringLiteral("svg")))
            continue;
#endif
        QVERIFY2(saved.has_value(), saved ? "" : qPrintable(saved.error()));
        QVERIFY(QFileInfo(path).size() > 1000);
    }
}

QTEST_MAIN(TestChartsRanks)
#include "tst_charts_ranks.moc"
