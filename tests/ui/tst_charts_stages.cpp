// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stages_chart.h"
#include "charts/stages_plot.h"
#include "theme/theme.h"
#include "ui/chart_data.h"
#include "ui/shown_chart.h"
#include "workspace/view_state.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace headroom;

namespace {

Footprint fourStages()
{
    return test::footprintOf({{4, 9, 7, 17, 39, 0, 0, 4.4, 3},
                              {4, 8, 6, 17.3, 26, 0, 0, 4, 3.3},
                              {4, 8, 6, 17.3, 13, 0, 0, 4, 3.3},
                              {4, 8, 7.5, 17.3, 0, 14.5, 0, 4, 3.3}});
}

Footprint deep(int stages)
{
    std::vector<std::array<double, componentCount>> components;
    for (int i = 0; i < stages; ++i)
        components.push_back({3, 6, 5, 2, 50.0 - 0.2 * i, 0, 1, 2, 2});
    return test::footprintOf(components);
}

struct Shown : test::ShownChart<StagesChart, StagesPlot>
{
    Shown() { chart.resize(1000, 420); }
};

} // namespace

class TestChartsStages : public QObject
{
    Q_OBJECT

private slots:
    void init() { test::prepareChartTest(); }
    void drawsComponentsInStackingOrder();
    void totalsAreRedAboveCapacity();
    void everythingIsInSight();
    void unusedCacheIsAPart();
    void readoutShowsDifferences();
    void keysAndClicksSelect();
    void ticksReuseEverything();
    void intervalsAreWhiskers();
    void manyStagesAreReadable();
    void themeIsFollowed();
    void clearedAndShrunk();
    void exportsAndValues();
    void describesItself();
};

void TestChartsStages::drawsComponentsInStackingOrder()
{
    Shown shown;
    shown.chart.setFootprint(fourStages());
    QVERIFY(shown.isReady());
    const QImage image = shown.plot->grab().toImage();
    // In the middle of each part of stage 0: 4, 9, 7, 17, 39, then 4.4 of buffers and 3 of context.
    const std::pair<double, Component> middles[]
        = {{2, Component::Parameters},     {8.5, Component::Gradients}, {16.5, Component::OptimizerState},
           {28.5, Component::Activations}, {56, Component::InFlight},   {78, Component::Buffers},
           {81.9, Component::Context}};
    for (const auto& [gib, component] : middles)
        QCOMPARE(image.pixelColor(shown.pixel(0, gib)), Theme::current().component(component));
    QCOMPARE(image.pixelColor(shown.pixel(3, 44)), Theme::current().component(Component::Logits));
    QCOMPARE(image.pixelColor(shown.pixel(3, 90)), Theme::current().window);
    QVERIFY(!shown.plot->occurs(static_cast<std::size_t>(Component::WorkingSet)));
    QVERIFY(shown.plot->occurs(static_cast<std::size_t>(Component::Logits)));
}

void TestChartsStages::totalsAreRedAboveCapacity()
{
    Shown shown;
    shown.chart.setFootprint(fourStages());
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    QCOMPARE(shown.chart.totalLabel(0), QStringLiteral("83.4"));
    QCOMPARE(shown.chart.totalLabel(3), QStringLiteral("58.6"));
    QCOMPARE(shown.chart.totalLabel(4), QString());
    QCOMPARE(shown.chart.totalLabel(-1), QString());
    const QImage image = shown.plot->grab().toImage();
    const auto inkAbove = [&](int stage, double gib) {
        const QPoint top = shown.pixel(stage, gib);
        for (int y = top.y() - 14; y < top.y() - 2; ++y) {
            for (int x = top.x() - 12; x < top.x() + 12; ++x) {
                const QColor pixel = image.pixelColor(x, y);
                if (pixel.red() > 140 && pixel.green() < 80)
                    return 'r';
            }
        }
        return 'b';
    };
    QCOMPARE(inkAbove(0, 83.4), 'r');
    QCOMPARE(inkAbove(2, 55.6), 'b');
}

void TestChartsStages::everythingIsInSight()
{
    Shown shown;
    const Footprint now = test::footprintOf({{1, 1, 1, 1, 0, 0, 0, 0, 1}});
    const Footprint before = test::footprintOf({{1, 1, 1, 90, 0, 0, 0, 0, 1}, {1, 1, 1, 1, 0, 0, 0, 0, 1}});
    shown.chart.setFootprint(now, &before);
    QVERIFY(shown.isReady());
    QVERIFY(shown.bytes()->range().upper > 94); // the outline
    QVERIFY(shown.horizontal()->range().contains(1)); // the baseline had a stage more
    shown.chart.setMeasured({gib(100)});
    QVERIFY(shown.bytes()->range().upper > 100);
    shown.chart.setCapacity(gib(141));
    QVERIFY(shown.bytes()->range().upper > 141);
    QCOMPARE(shown.bytes()->range().lower, 0.0);
}

void TestChartsStages::unusedCacheIsAPart()
{
    Shown shown;
    Footprint footprint = test::footprintOf({{4, 4, 4, 4, 0, 0, 0, 0, 2}});
    footprint.stages[0].device = gib(21); // the allocator holds 3 GiB nothing lies in
    shown.chart.setFootprint(footprint);
    QCOMPARE(shown.chart.totalLabel(0), QStringLiteral("21.0"));
    QVERIFY(shown.plot->occurs(stackPartCount - 1));
    footprint.stages[0].device = gib(18);
    shown.chart.setFootprint(footprint);
    QCOMPARE(shown.chart.totalLabel(0), QStringLiteral("18.0"));
    QVERIFY(!shown.plot->occurs(stackPartCount - 1));
}

void TestChartsStages::readoutShowsDifferences()
{
    Shown shown;
    const Footprint before = test::footprintOf({{4, 9, 7, 20, 39, 0, 0, 4.4, 3}});
    shown.chart.setFootprint(fourStages(), &before);
    shown.chart.setMeasured({gib(81)});
    QVERIFY(shown.isReady());
    QTest::mouseMove(shown.plot, shown.pixel(3, 10));
    QTest::mouseMove(shown.plot, shown.pixel(0, 10));
    QVERIFY(shown.plot->readout()->visible());
    QCOMPARE(shown.plot->readout()->heading(), QStringLiteral("stage 0"));
    QCOMPARE(shown.valueOf(QStringLiteral("Activations")), QStringLiteral("17.00 GiB  −3.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("Parameters")), QStringLiteral("4.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("Total on the device")), QStringLiteral("83.40 GiB  −3.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("Measured peak")), QStringLiteral("81.00 GiB"));
    QVERIFY(shown.valueOf(QStringLiteral("Logits")).isEmpty());
    QCOMPARE(shown.plot->readout()->rows().front().name, QStringLiteral("Context")); // from the top of the bar
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(shown.plot, &leave);
    QVERIFY(!shown.plot->readout()->visible());
}

void TestChartsStages::keysAndClicksSelect()
{
    Shown shown;
    ViewState view;
    shown.chart.setViewState(&view);
    shown.chart.setFootprint(fourStages());
    QVERIFY(shown.isReady());
    QSignalSpy selected(&shown.chart, &StagesChart::stageSelected);
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QCOMPARE(view.stage(), std::optional<int>(1));
    QTest::keyClick(&shown.chart, Qt::Key_Left);
    QTest::keyClick(&shown.chart, Qt::Key_Left); // stays at the first
    QCOMPARE(selected.count(), 3);
    QTest::keyClick(&shown.chart, Qt::Key_End);
    QCOMPARE(view.stage(), std::optional<int>(3));
    QTest::mouseClick(shown.plot, Qt::LeftButton, {}, shown.pixel(2, 20));
    QCOMPARE(selected.last().first().toInt(), 2);
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    const QPoint under(shown.pixel(2, 0).x(), shown.plot->axisRect()->bottom() + 3);
    QCOMPARE(shown.plot->grab().toImage().pixelColor(under), Theme::current().accent);
}

void TestChartsStages::ticksReuseEverything()
{
    Shown shown;
    Footprint footprint = deep(64);
    const Footprint baseline = footprint;
    shown.chart.setFootprint(footprint, &baseline);
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    const int plottables = shown.plot->plottableCount();
    const int items = shown.plot->itemCount();
    const QWidgetList children = shown.chart.findChildren<QWidget*>();
    std::vector<qint64> nanoseconds;
    for (int tick = 0; tick < 101; ++tick) {
        for (StageFootprint& stage : footprint.stages) {
            stage.components[3] += mib(tick);
            stage.device += mib(tick);
        }
        QElapsedTimer timer;
        timer.start();
        shown.chart.setFootprint(footprint, &baseline);
        shown.plot->replot(QCustomPlot::rpImmediateRefresh);
        nanoseconds.push_back(timer.nsecsElapsed());
    }
    QCOMPARE(shown.plot->plottableCount(), plottables);
    QCOMPARE(shown.plot->itemCount(), items);
    QCOMPARE(shown.chart.findChildren<QWidget*>(), children);
    std::nth_element(nanoseconds.begin(), nanoseconds.begin() + 50, nanoseconds.end());
    const double milliseconds = static_cast<double>(nanoseconds[50]) / 1e6;
    qInfo("a tick with 64 stages takes %.2f ms (median)", milliseconds);
    QVERIFY(milliseconds < 16); // a frame, on the slowest machine that runs tests
}

void TestChartsStages::intervalsAreWhiskers()
{
    Shown shown;
    Footprint footprint = fourStages();
    shown.chart.setFootprint(footprint);
    QVERIFY(shown.isReady());
    const double without = shown.bytes()->range().upper;
    footprint.stages[0].intervals = StageIntervals{{gib(70), gib(95)}, {gib(70), gib(95)}, {gib(72), gib(98)}};
    shown.chart.setFootprint(footprint);
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QVERIFY(shown.bytes()->range().upper > 98 && without < 98);
    const QImage image = shown.plot->grab().toImage();
    // Dark between its ends, where the bar and, above it, the window would be.
    const auto isDark = [&](double gib) { return image.pixelColor(shown.pixel(0, gib)).lightness() < 128; };
    QVERIFY(isDark(75) && isDark(90));
    QCOMPARE(image.pixelColor(shown.pixel(0, 60)), Theme::current().component(Component::InFlight));
    QTest::mouseMove(shown.plot, shown.pixel(3, 10));
    QTest::mouseMove(shown.plot, shown.pixel(0, 10));
    QCOMPARE(shown.valueOf(QStringLiteral("Between")), QStringLiteral("72.00 GiB and 98.00 GiB"));
}

void TestChartsStages::manyStagesAreReadable()
{
    Shown shown;
    for (const int count : {1, 4, 12, 64, 200}) {
        shown.chart.setFootprint(deep(count));
        QVERIFY(shown.isReady());
        const QFontMetricsF metrics(shown.plot->smallFont());
        const QVector<double> ticks = shown.horizontal()->tickVector();
        const QVector<QString> labels = shown.horizontal()->tickVectorLabels();
        QVERIFY(!labels.isEmpty());
        QVERIFY(labels.first().endsWith(QLatin1Char('0')));
        for (qsizetype i = 1; i < ticks.size(); ++i) {
            const double room
                = shown.horizontal()->coordToPixel(ticks[i]) - shown.horizontal()->coordToPixel(ticks[i - 1]);
            QVERIFY2(room > metrics.horizontalAdvance(labels[i]), qPrintable(labels[i]));
        }
    }
}

void TestChartsStages::themeIsFollowed()
{
    Shown shown;
    shown.chart.setFootprint(fourStages());
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    const QColor label = shown.bytes()->tickLabelColor();
    const QColor grid = shown.bytes()->grid()->pen().color();
    applyTheme(*qApp, ThemeChoice::Dark);
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QVERIFY(shown.bytes()->tickLabelColor() != label);
    QVERIFY(shown.bytes()->grid()->pen().color() != grid);
    const QImage image = shown.plot->grab().toImage();
    QCOMPARE(image.pixelColor(2, 2), Theme::dark().window);
    QCOMPARE(image.pixelColor(shown.pixel(0, 2)), Theme::dark().component(Component::Parameters));
}

void TestChartsStages::clearedAndShrunk()
{
    Shown shown;
    QVERIFY(shown.isReady());
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QVERIFY(!shown.chart.selectedStage());
    shown.chart.setFootprint(deep(64));
    shown.chart.selectStage(60);
    QTest::mouseMove(shown.plot, shown.pixel(10, 1));
    QTest::mouseMove(shown.plot, shown.pixel(60, 1));
    const Footprint small = fourStages();
    shown.chart.setFootprint(small); // the hovered and the selected stage are gone
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    shown.chart.setMeasured(std::vector<std::optional<Bytes>>(10, gib(1))); // more than there are
    shown.chart.clear();
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QCOMPARE(shown.chart.accessibleDescription(), QStringLiteral("No estimate."));
    Footprint absurd = fourStages();
    absurd.stages[0].components.fill({std::numeric_limits<std::int64_t>::max()}); // what estimates are clamped to
    absurd.stages[0].device = absurd.stages[0].components[0];
    shown.chart.setFootprint(absurd);
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QCOMPARE(shown.plot->mark(0).total, std::optional(Bytes{std::numeric_limits<std::int64_t>::max()}));
}

void TestChartsStages::exportsAndValues()
{
    Shown shown;
    const Footprint before = test::footprintOf({{1, 1, 1, 1, 0, 0, 0, 0, 0}});
    shown.chart.setFootprint(test::footprintOf({{1, 0, 0, 2, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 1}}), &before);
    shown.chart.setMeasured({std::nullopt, gib(1)});
    QVERIFY(shown.isReady());
    QCOMPARE(shown.chart.values(),
             QStringLiteral("stage\tparameters_bytes\tgradients_bytes\toptimizer_state_bytes\tactivations_bytes\t"
                            "in_flight_bytes\tlogits_bytes\tworking_set_bytes\tbuffers_bytes\tcontext_bytes\t"
                            "unused_cache_bytes\tdevice_bytes\tbaseline_device_bytes\tmeasured_bytes\n"
                            "0\t1073741824\t0\t0\t2147483648\t0\t0\t0\t0\t0\t0\t3221225472\t4294967296\t\n"
                            "1\t0\t0\t0\t0\t0\t0\t0\t0\t1073741824\t0\t1073741824\t\t1073741824\n"));
    const QTemporaryDir folder;
    QVERIFY(shown.chart.saveImage(folder.filePath(QStringLiteral("stages.png"))));
    QCOMPARE(QImage(folder.filePath(QStringLiteral("stages.png"))).size(), QSize(2000, 840));
    QVERIFY(shown.chart.saveImage(folder.filePath(QStringLiteral("stages.pdf"))));
    QVERIFY(QFileInfo(folder.filePath(QStringLiteral("stages.pdf"))).size() > 2000);
}

void TestChartsStages::describesItself()
{
    Shown shown;
    shown.chart.setFootprint(fourStages());
    shown.chart.setCapacity(gib(80));
    shown.chart.selectStage(2);
    QCOMPARE(shown.chart.accessibleName(), QStringLiteral("Estimated peak per stage"));
    QCOMPARE(shown.chart.accessibleDescription(),
             QStringLiteral("4 stages; the fullest is stage 0 with 83.40 GiB. Capacity 80.0 GiB. "
                            "Selected: stage 2 with 55.60 GiB."));
}

QTEST_MAIN(TestChartsStages)
#include "tst_charts_stages.moc"
