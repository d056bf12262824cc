// SPDX-License-Identifier: GPL-3.0-or-later
//
// The peaks chart under hands: pointer, wheel, keys, legend, and what comes from outside while it is shown.
#include "theme/theme.h"
#include "ui/shown_peaks.h"

#include <QAbstractButton>
#include <QSignalSpy>
#include <QTest>

using namespace headroom;
using test::longRun;
using test::RunBuilder;
using test::ShownPeaks;

class TestChartsPeaksUse : public QObject
{
    Q_OBJECT

private slots:
    void init() { test::prepareChartTest(); }
    void thePointerFindsTheSpike();
    void wheelZoomsAboutThePointer();
    void keysZoomMoveAndGoBack();
    void dragsPanAndZoom();
    void overviewMovesTheView();
    void legendHidesAPhase();
    void aClickActivatesTheRecord();
    void theNewestRunWins();
    void followsTheRankOfTheView();
    void outlivesTheSharedView();
};

void TestChartsPeaksUse::thePointerFindsTheSpike()
{
    ShownPeaks shown(longRun(200'000, 123'456));
    QVERIFY(shown.isReady());
    QTest::mouseMove(shown.plot, shown.pixel(10'000, 20));
    QTest::mouseMove(shown.plot, QPoint(static_cast<int>(shown.steps()->coordToPixel(123'456)), 100));
    QCOMPARE(shown.chart.viewState()->cursor(), std::optional<qint64>(123'456));
    QCOMPARE(shown.valueOf(QStringLiteral("backward")), QStringLiteral("70.00 GiB"));
}

void TestChartsPeaksUse::wheelZoomsAboutThePointer()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    const QPoint at = shown.pixel(100, 30);
    const double before = shown.steps()->pixelToCoord(at.x());
    shown.wheel(at, 120);
    QVERIFY(shown.chart.viewState()->range().span() < 400);
    QVERIFY(qAbs(shown.steps()->pixelToCoord(at.x()) - before) < 1e-6);
    QCOMPARE(shown.steps()->range().lower, shown.chart.viewState()->range().first);
    shown.wheel(at, -120);
    QVERIFY(qAbs(shown.chart.viewState()->range().span() - 400) < 1e-6);
    shown.wheel(at, -1200);
    QVERIFY(shown.chart.viewState()->isFitted());
}

void TestChartsPeaksUse::keysZoomMoveAndGoBack()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    ViewState& view = *shown.chart.viewState();
    shown.chart.setFocus();
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QCOMPARE(view.cursor(), std::optional<qint64>(122));
    QTest::keyClick(&shown.chart, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(view.cursor(), std::optional<qint64>(112));
    QTest::keyClick(&shown.chart, Qt::Key_Plus);
    QTest::keyClick(&shown.chart, Qt::Key_Equal);
    const StepRange zoomed = view.range();
    QVERIFY(qAbs(zoomed.span() - 400 * 0.7 * 0.7) < 1e-9);
    QTest::keyClick(&shown.chart, Qt::Key_Minus);
    QTest::keyClick(&shown.chart, Qt::Key_Backspace);
    QCOMPARE(view.range(), zoomed);
    QTest::keyClick(&shown.chart, Qt::Key_Home);
    QVERIFY(view.isFitted());
    QTest::keyClick(&shown.chart, Qt::Key_Escape);
    QVERIFY(!view.cursor());
    QVERIFY(!shown.plot->readout()->visible());
    QTest::keyClick(&shown.chart, Qt::Key_Left); // from nowhere: the last step
    QCOMPARE(view.cursor(), std::optional<qint64>(400));
    view.setRange({0, 50});
    QTest::keyClick(&shown.chart, Qt::Key_Left); // the cursor takes the view along
    QVERIFY(view.range().first <= 399 && view.range().last >= 399);
}

void TestChartsPeaksUse::dragsPanAndZoom()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    ViewState& view = *shown.chart.viewState();
    const auto drag = [&](double from, double to, Qt::KeyboardModifiers modifiers) {
        const QPoint begin = shown.pixel(from, 30), end = shown.pixel(to, 30);
        QTest::mousePress(shown.plot, Qt::LeftButton, modifiers, begin);
        for (int i = 1; i <= 10; ++i)
            QTest::mouseMove(shown.plot, begin + (end - begin) * i / 10);
        QTest::mouseRelease(shown.plot, Qt::LeftButton, modifiers, end);
    };
    drag(100, 200, Qt::ShiftModifier);
    QVERIFY(qAbs(view.range().first - 100) < 1 && qAbs(view.range().last - 200) < 1);
    const StepRange zoomed = view.range();
    drag(150, 140, Qt::NoModifier);
    QVERIFY(qAbs(view.range().first - (zoomed.first + 10)) < 0.5);
    QVERIFY(qAbs(view.range().span() - zoomed.span()) < 1e-9);
    view.back(); // one drag, one stop
    QCOMPARE(view.range(), zoomed);
    QTest::mouseDClick(shown.plot, Qt::LeftButton, {}, shown.pixel(150, 30));
    QVERIFY(view.isFitted());
}

void TestChartsPeaksUse::overviewMovesTheView()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    ViewState& view = *shown.chart.viewState();
    const QCPAxisRect* strip = shown.plot->axisRect(1);
    QCOMPARE(strip->left(), shown.plot->axisRect(0)->left()); // aligned with the chart above
    QCOMPARE(strip->right(), shown.plot->axisRect(0)->right());
    const auto at = [&](double step) {
        return QPoint(qRound(strip->axis(QCPAxis::atBottom)->coordToPixel(step)), strip->center().y());
    };
    view.setRange({100, 200});
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QTest::mousePress(shown.plot, Qt::LeftButton, {}, at(150));
    QTest::mouseMove(shown.plot, at(170));
    QTest::mouseMove(shown.plot, at(250));
    QTest::mouseRelease(shown.plot, Qt::LeftButton, {}, at(250));
    QVERIFY(qAbs(view.range().first - 200) < 1 && qAbs(view.range().span() - 100) < 1e-9);
    QTest::mousePress(shown.plot, Qt::LeftButton, {}, at(view.range().last));
    QTest::mouseMove(shown.plot, at(380));
    QTest::mouseRelease(shown.plot, Qt::LeftButton, {}, at(380));
    QVERIFY(qAbs(view.range().first - 200) < 1 && qAbs(view.range().last - 380) < 1);
    QTest::mouseClick(shown.plot, Qt::LeftButton, {}, at(100)); // beside: the window comes
    QVERIFY(qAbs(view.range().centre() - 100) < 1);
}

void TestChartsPeaksUse::legendHidesAPhase()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    QAbstractButton* entry = nullptr;
    for (QAbstractButton* button : shown.chart.findChildren<QAbstractButton*>()) {
        if (button->accessibleName() == QLatin1StringView("backward"))
            entry = button;
    }
    QVERIFY(entry);
    QTest::mouseClick(entry, Qt::LeftButton);
    QVERIFY(!shown.graph(QStringLiteral("backward"))->visible());
    QVERIFY(shown.graph(QStringLiteral("forward"))->visible());
    shown.chart.viewState()->setCursor(5);
    QVERIFY(shown.valueOf(QStringLiteral("backward")).isEmpty());
    QTest::keyClick(entry, Qt::Key_Space);
    QVERIFY(shown.graph(QStringLiteral("backward"))->visible());
}

void TestChartsPeaksUse::aClickActivatesTheRecord()
{
    ShownPeaks shown(
        RunBuilder().add(0, 0, 0, gib(10)).add(0, 1, 0, gib(20)).add(10, 0, 0, gib(12)).add(10, 1, 0, gib(18)).run);
    QVERIFY(shown.isReady());
    QSignalSpy activated(&shown.chart, &PeaksChart::recordActivated);
    QTest::mouseClick(shown.plot, Qt::LeftButton, {}, shown.pixel(5, 10)); // on forward's line, held from step 0
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated.takeFirst().first().toLongLong(), 0);
    QTest::mouseClick(shown.plot, Qt::LeftButton, {}, shown.pixel(5, 15)); // between the lines
    QCOMPARE(activated.count(), 0);
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QTest::keyClick(&shown.chart, Qt::Key_Return); // the highest at the cursor
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated.takeFirst().first().toLongLong(), 3);
}

void TestChartsPeaksUse::theNewestRunWins()
{
    PeaksChart chart;
    QSignalSpy changed(&chart, &PeaksChart::seriesChanged);
    chart.setRun(std::make_shared<Run>(longRun(300'000, 1)));
    QVERIFY(chart.isPreparing());
    chart.setRun(std::make_shared<Run>(longRun(200'000, 2)));
    chart.setRun(std::make_shared<Run>(longRun(100'000, 3)));
    QTRY_VERIFY(!chart.isPreparing() && changed.count() > 0);
    QTRY_COMPARE(chart.series().overall.size(), std::size_t{100'000});
    QCOMPARE(changed.count(), 1); // the others were never shown
    chart.setRun(std::make_shared<Run>(longRun(400'000, 3))); // destroyed while preparing: no crash
}

void TestChartsPeaksUse::followsTheRankOfTheView()
{
    ShownPeaks shown(RunBuilder().add(1, 0, 0, gib(3)).add(1, 0, 1, gib(5)).run);
    ViewState view;
    shown.chart.setViewState(&view);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.valueOf(QStringLiteral("forward")), QStringLiteral("5.00 GiB"));
    view.setRank(0);
    QCOMPARE(shown.valueOf(QStringLiteral("forward")), QStringLiteral("3.00 GiB"));
    view.setRank(12); // not in this run
    QVERIFY(shown.chart.series().isEmpty());
    shown.chart.setViewState(nullptr);
    QCOMPARE(shown.valueOf(QStringLiteral("forward")), QStringLiteral("5.00 GiB"));
}

void TestChartsPeaksUse::outlivesTheSharedView()
{
    ShownPeaks shown(test::typicalRun());
    {
        ViewState view;
        shown.chart.setViewState(&view);
        QVERIFY(shown.isReady());
    }
    QTest::keyClick(&shown.chart, Qt::Key_Plus);
    QVERIFY(shown.chart.viewState()->range().span() < 400);
}

QTEST_MAIN(TestChartsPeaksUse)
#include "tst_charts_peaks_use.moc"
