// SPDX-License-Identifier: GPL-3.0-or-later
//
// The peaks chart beyond its first lines: channels, markers, what else the steps say, following, a logarithmic axis,
// and the heat map of the ranks.
#include "charts/ranks_chart.h"
#include "charts/ranks_plot.h"
#include "theme/theme.h"
#include "ui/shown_peaks.h"

#include <QAction>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

using namespace headroom;
using namespace headroom::test;

namespace {

/// Rank r at step s: forward 10 + r, backward 20 + r + s GiB, reserved 30 + r in backward; times and losses on rank 1.
Run fourRanks()
{
    RunBuilder builder;
    for (std::uint32_t step = 1; step <= 10; ++step) {
        for (int rank = 0; rank < 4; ++rank) {
            builder.add(step, 0, rank, gib(10 + rank));
            builder.add(step, 1, rank, gib(20 + rank + std::int64_t{step}), gib(30 + rank).value);
            if (rank == 1) {
                const auto record = static_cast<std::uint32_t>(builder.run.size() - 1);
                builder.run.stepSeconds.records.push_back(record);
                builder.run.stepSeconds.values.push_back(static_cast<float>(step) / 4);
                builder.run.loss.records.push_back(record);
                builder.run.loss.values.push_back(step == 3 ? std::nan("") : 3.0 - 0.125 * step);
            }
        }
    }
    builder.run.files = {"train.log"};
    return builder.run;
}

Channel channel(const char* phase, int rank, bool isReserved = false)
{
    return {phase, rank, isReserved};
}

} // namespace

class TestChartsChannels : public QObject
{
    Q_OBJECT

private slots:
    static void initTestCase();
    static void channelsAreShownAndHidden();
    static void addedLinesAreGathered_data();
    static void addedLinesAreGathered();
    static void metricsAreGathered();
    static void viewFollowsTheNewest();
    static void lookingElsewhereStopsFollowing();
    static void chartDrawsAddedLines();
    static void cursorStaysWhenALineIsAdded();
    static void stripsLineUp();
    static void markersShowDifferences();
    static void logarithmicAxisCoversTheValues();
    static void valuesAreSaved();
    static void buttonsStayOutOfPictures();
    static void gridHoldsThePeaks_data();
    static void gridHoldsThePeaks();
    static void heatMapChoosesRanks();
    static void heatMapCoversTheStepsInView();
    static void heatMapIsSaved();
};

void TestChartsChannels::initTestCase()
{
    QLocale::setDefault(QLocale::c());
    applyTheme(*qApp, ThemeChoice::Light);
}

void TestChartsChannels::channelsAreShownAndHidden()
{
    ViewState view;
    QSignalSpy changed(&view, &ViewState::channelsChanged);
    QVERIFY(view.isShown(channel("backward", Channel::overRanks)));
    QVERIFY(view.isShown(channel("", Channel::overRanks, true)));
    QVERIFY(!view.isShown(channel("backward", Channel::overRanks, true)));
    QVERIFY(!view.isShown(channel("backward", 3)));
    view.setShown(channel("backward", 3), true);
    view.setShown(channel("backward", 3), true); // nothing new
    view.setShown(channel("forward", Channel::overRanks), false);
    QCOMPARE(changed.size(), 2);
    QCOMPARE(view.addedChannels(), std::vector<Channel>{channel("backward", 3)});
    QVERIFY(!view.isShown(channel("forward", Channel::overRanks)));
    view.setShown({channel("backward", 3), channel("forward", Channel::overRanks)}, false);
    QCOMPARE(changed.size(), 3);
    QVERIFY(view.addedChannels().empty());
}

void TestChartsChannels::addedLinesAreGathered_data()
{
    QTest::addColumn<QString>("phase");
    QTest::addColumn<int>("rank");
    QTest::addColumn<bool>("isReserved");
    QTest::addColumn<int>("chosenRank");
    QTest::addColumn<qint64>("gibOfStep7"); // -1: no line
    QTest::newRow("one rank") << QStringLiteral("backward") << 2 << false << -1 << qint64{29};
    QTest::newRow("one rank beside the chosen one") << QStringLiteral("backward") << 2 << false << 0 << qint64{29};
    QTest::newRow("reserved of a rank") << QStringLiteral("backward") << 3 << true << -1 << qint64{33};
    QTest::newRow("reserved of a phase") << QStringLiteral("backward") << -1 << true << -1 << qint64{33};
    QTest::newRow("reserved of a phase of the chosen rank")
        << QStringLiteral("backward") << -1 << true << 1 << qint64{31};
    QTest::newRow("all phases of a rank") << QString() << 1 << false << -1 << qint64{28};
    QTest::newRow("all phases") << QString() << -1 << false << -1 << qint64{30};
    QTest::newRow("a rank that is not there") << QStringLiteral("backward") << 9 << false << -1 << qint64{-1};
    QTest::newRow("reserved where none is said") << QStringLiteral("forward") << 1 << true << -1 << qint64{-1};
    QTest::newRow("a phase that is not there") << QStringLiteral("warmup") << 1 << false << -1 << qint64{-1};
}

void TestChartsChannels::addedLinesAreGathered()
{
    QFETCH(const QString, phase);
    QFETCH(const int, rank);
    QFETCH(const bool, isReserved);
    QFETCH(const int, chosenRank);
    QFETCH(const qint64, gibOfStep7);
    const Channel wanted{phase.toStdString(), rank, isReserved};
    const PeakSeries series
        = makePeakSeries(fourRanks(), chosenRank < 0 ? std::nullopt : std::optional(chosenRank), {wanted});
    QCOMPARE(series.added.empty(), gibOfStep7 < 0);
    if (series.added.empty())
        return;
    const StepLine& line = series.added.front().line;
    QCOMPARE(line.size(), std::size_t{10});
    QCOMPARE(line.bytes[*line.holdLast(7)], gib(gibOfStep7).value);
}

void TestChartsChannels::metricsAreGathered()
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

void TestChartsChannels::viewFollowsTheNewest()
{
    ViewState view;
    view.setBounds({0, 100});
    view.setRange({20, 40});
    view.setOn(ViewState::Switch::Follow, true);
    QCOMPARE(view.range().last, 100.0);
    QCOMPARE(view.range().span(), 20.0);
    view.setBounds({0, 150});
    QCOMPARE(view.range().first, 130.0);
    QCOMPARE(view.range().last, 150.0);
    QVERIFY(view.isOn(ViewState::Switch::Follow));
    view.setOn(ViewState::Switch::Follow, false);
    view.setBounds({0, 200});
    QCOMPARE(view.range().last, 150.0); // a zoom stays where it is
}

void TestChartsChannels::lookingElsewhereStopsFollowing()
{
    ViewState view;
    view.setBounds({0, 100});
    view.setOn(ViewState::Switch::Follow, true);
    QSignalSpy switched(&view, &ViewState::switched);
    view.setRange({60, 100}); // the newest is still there
    QVERIFY(view.isOn(ViewState::Switch::Follow));
    view.pan(-10);
    QVERIFY(!view.isOn(ViewState::Switch::Follow));
    QCOMPARE(switched.size(), 1);
    QCOMPARE(view.range().first, 50.0);
}

void TestChartsChannels::chartDrawsAddedLines()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    ViewState* view = shown.chart.viewState();
    const int before = shown.plot->graphCount();
    view->setShown({channel("backward", 2), channel("backward", 3, true)}, true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->graphCount(), before + 2);
    view->setCursor(7);
    QCOMPARE(shown.valueOf(QStringLiteral("backward · rank 2")), QStringLiteral("29.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("backward reserved · rank 3")), QStringLiteral("33.00 GiB"));
    QVERIFY(shown.graph(QStringLiteral("backward · rank 2"))->pen().color()
            != shown.graph(QStringLiteral("backward"))->pen().color());
    QCOMPARE(shown.graph(QStringLiteral("backward reserved · rank 3"))->pen().style(), Qt::CustomDashLine);
    view->setShown(channel("backward", 2), false);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.plot->graphCount(), before + 1);
    // The phases are found by name in another log.
    view->setShown(channel("forward", Channel::overRanks), false);
    shown.chart.setRun(std::make_shared<Run>(typicalRun()));
    QVERIFY(shown.isReady());
    QVERIFY(!shown.graph(QStringLiteral("forward"))->visible());
}

void TestChartsChannels::cursorStaysWhenALineIsAdded()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    shown.plot->pinCursor(4);
    shown.chart.viewState()->setShown(channel("backward", 2), true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.chart.viewState()->cursor().value_or(-1), qint64{4});
}

void TestChartsChannels::stripsLineUp()
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

void TestChartsChannels::markersShowDifferences()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    ViewState* view = shown.chart.viewState();
    shown.chart.setFocus();
    view->setCursor(2);
    QTest::keyClick(&shown.chart, Qt::Key_A);
    QVERIFY(!shown.plot->differences()->visible());
    view->setCursor(9);
    QTest::keyClick(&shown.chart, Qt::Key_B);
    QVERIFY(shown.plot->differences()->visible());
    QCOMPARE(view->marker(ViewState::Marker::A).value_or(-1), qint64{2});
    const auto valueOf = [&](const QString& name) {
        for (const ReadoutItem::Row& row : shown.plot->differences()->rows()) {
            if (row.name == name)
                return row.value;
        }
        return QString();
    };
    QCOMPARE(valueOf(QStringLiteral("backward")), QStringLiteral("+7.00 GiB"));
    QCOMPARE(valueOf(QStringLiteral("forward")), QStringLiteral("±0 B"));
    QCOMPARE(valueOf(QStringLiteral("step time")), QStringLiteral("+1.75 s"));
    QCOMPARE(valueOf(QStringLiteral("loss")), QStringLiteral("\u22120.875"));
    QTest::keyClick(&shown.chart, Qt::Key_B); // where it stands: taken away
    QVERIFY(!shown.plot->differences()->visible());
    view->clearMarkers();
    QVERIFY(!view->marker(ViewState::Marker::A));
}

void TestChartsChannels::logarithmicAxisCoversTheValues()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    shown.chart.viewState()->setOn(ViewState::Switch::LogScale, true);
    QVERIFY(shown.isReady());
    QCOMPARE(shown.bytes()->scaleType(), QCPAxis::stLogarithmic);
    QVERIFY(shown.bytes()->range().lower > 0 && shown.bytes()->range().lower < 13); // forward's least maximum
    QVERIFY(shown.bytes()->range().upper > 33);
    QVERIFY(shown.bytes()->tickVector().size() >= 2);
    shown.chart.viewState()->setOn(ViewState::Switch::LogScale, false);
    QCOMPARE(shown.bytes()->range().lower, 0.0);
}

void TestChartsChannels::valuesAreSaved()
{
    ShownPeaks shown(fourRanks());
    QVERIFY(shown.isReady());
    shown.chart.viewState()->setShown(channel("backward", 2), true);
    shown.chart.viewState()->setRange({3, 5});
    QVERIFY(shown.isReady());
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("peaks.csv"));
    QVERIFY(shown.chart.saveValues(path).has_value());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().split('\n');
    QCOMPARE(lines.size(), 5); // heading, three steps, nothing after the last line end
    QCOMPARE(lines[0],
             QByteArray("step,forward_bytes,backward_bytes,reserved_bytes,backward_rank2_bytes,step_seconds,"
                        "loss,line"));
    // 4 steps of 8 records stand before step 5 at rank 3: record 39, and lines count by ten.
    QCOMPARE(lines[3],
             QByteArray("5,") + QByteArray::number(gib(13).value) + ',' + QByteArray::number(gib(28).value) + ','
                 + QByteArray::number(gib(33).value) + ',' + QByteArray::number(gib(27).value) + ",1.25,2.375,400");
    QCOMPARE(lines[1].count(','), 7); // no loss in step 3: an empty cell
    QVERIFY(!shown.chart.saveValues(folder.filePath(QStringLiteral("no/such/folder.csv"))).has_value());
}

void TestChartsChannels::buttonsStayOutOfPictures()
{
    ShownPeaks shown(fourRanks());
    QAction action(QStringLiteral("Follow"));
    const QImage without = shown.isReady() ? shown.chart.image(1) : QImage();
    shown.chart.addSwitch(&action);
    QVERIFY(shown.isReady());
    QCoreApplication::processEvents();
    const auto* button = shown.chart.findChild<QToolButton*>();
    QVERIFY(button != nullptr && button->isVisible());
    const QImage with = shown.chart.image(1);
    for (int x = button->x(); x < button->x() + button->width(); ++x)
        QCOMPARE(with.pixelColor(x, button->geometry().center().y()), Theme::current().window);
}

void TestChartsChannels::gridHoldsThePeaks_data()
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

void TestChartsChannels::gridHoldsThePeaks()
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

void TestChartsChannels::heatMapChoosesRanks()
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

void TestChartsChannels::heatMapCoversTheStepsInView()
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

void TestChartsChannels::heatMapIsSaved()
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

QTEST_MAIN(TestChartsChannels)
#include "tst_charts_channels.moc"
