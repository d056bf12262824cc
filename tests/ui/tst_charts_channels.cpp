// SPDX-License-Identifier: GPL-3.0-or-later
//
// The peaks chart beyond its first lines: channels, markers, following, a logarithmic axis.
#include "ui/shown_peaks.h"

#include <QAction>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

using namespace headroom;
using namespace headroom::test;

namespace {

Channel channel(const char* phase, int rank, bool isReserved = false)
{
    return {phase, rank, isReserved};
}

} // namespace

class TestChartsChannels : public QObject
{
    Q_OBJECT

private slots:
    static void init() { prepareChartTest(); }
    static void channelsAreShownAndHidden();
    static void addedLinesAreGathered_data();
    static void addedLinesAreGathered();
    static void viewFollowsTheNewest();
    static void lookingElsewhereStopsFollowing();
    static void chartDrawsAddedLines();
    static void cursorStaysWhenALineIsAdded();
    static void markersShowDifferences();
    static void logarithmicAxisCoversTheValues();
    static void valuesAreSaved();
    static void buttonsStayOutOfPictures();
};

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

QTEST_MAIN(TestChartsChannels)
#include "tst_charts_channels.moc"
