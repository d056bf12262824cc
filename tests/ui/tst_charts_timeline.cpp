// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/timeline_chart.h"
#include "charts/timeline_plot.h"
#include "theme/theme.h"
#include "ui/shown_chart.h"
#include "workspace/view_state.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>

using namespace headroom;

namespace {

constexpr int layers = 4;

/// F1 F2 B1 B2 and the step: 10 GiB of parameters throughout, 2 GiB of activations more with each layer's forward,
/// 1 GiB of working set in the backward, 20 GiB of optimizer state.
std::shared_ptr<const StepTimeline> twoMicroBatches(double spike = 0)
{
    auto timeline = std::make_shared<StepTimeline>();
    timeline->microBatches = timeline->walkedMicroBatches = 2;
    timeline->inFlight = 2;
    double at = 0, kept = 0;
    const auto add = [&](Phase phase, int microBatch, int spans, double width, double perLayer, double transient) {
        timeline->passes.push_back({phase, 0, microBatch, at, at + spans * width});
        for (int i = 0; i < spans; ++i) {
            kept += perLayer;
            StepTimeline::Span span{at, at + width, static_cast<std::uint32_t>(timeline->passes.size() - 1), false, {}};
            const auto set = [&span](Component which, double gibibytes) {
                span.components[static_cast<std::size_t>(which)] = bytesFrom(gibibytes * 0x1p30);
            };
            set(Component::Parameters, 10);
            set(Component::OptimizerState, 20);
            set(Component::Activations, std::max(kept, 0.0));
            set(Component::WorkingSet, transient);
            timeline->spans.push_back(span);
            at += width;
        }
    };
    add(Phase::Forward, 0, layers, 1, 2, 0);
    add(Phase::Forward, 1, layers, 1, 2, spike);
    add(Phase::Backward, 0, layers, 2, -2, 1);
    add(Phase::Backward, 1, layers, 2, -2, 1);
    add(Phase::Optimizer, -1, 1, layers, 0, 0);
    timeline->peak = 2 * layers - 1;
    return timeline;
}

struct Shown : test::ShownChart<TimelineChart, TimelinePlot>
{
    Shown() { chart.resize(900, 420); }

    [[nodiscard]] QPoint stripPixel(double position) const
    {
        return {qRound(horizontal()->coordToPixel(position)), plot->axisRect()->bottom() + ScheduleStrip::gap + 3};
    }
    [[nodiscard]] QColor colorAt(QPoint pixel) const { return plot->grab().toImage().pixelColor(pixel); }
};

} // namespace

class TestChartsTimeline : public QObject
{
    Q_OBJECT

private slots:
    void init() { test::prepareChartTest(); }
    void drawsComponentsOverTheStrip();
    void aNarrowPeakIsSeen();
    void cursorReadsTheSpan();
    void keysMoveTheCursor();
    void capacityIsDrawnWhereItFits();
    void capacityLabelLeavesThePeakAlone();
    void oldDrawingStaysWhileBusy();
    void saysWhyThereIsNone();
    void exportsAndValues();
    void zoomSurvivesANewTimeline();
};

void TestChartsTimeline::drawsComponentsOverTheStrip()
{
    Shown shown;
    shown.chart.setTimeline(3, twoMicroBatches());
    QVERIFY(shown.isReady());
    const Theme& theme = Theme::current();
    QCOMPARE(shown.chart.title(), QStringLiteral("One training step, stage 3"));
    QCOMPARE(shown.colorAt(shown.pixel(3.5, 5)), theme.component(Component::Parameters));
    QCOMPARE(shown.colorAt(shown.pixel(3.5, 20)), theme.component(Component::OptimizerState));
    QCOMPARE(shown.colorAt(shown.pixel(3.5, 34)), theme.component(Component::Activations)); // 30 to 38
    QCOMPARE(shown.colorAt(shown.pixel(3.5, 41)), theme.window);
    QCOMPARE(shown.colorAt(shown.pixel(9, 44.5)), theme.component(Component::WorkingSet)); // 44 to 45
    // Below it, in the same columns, the passes.
    QCOMPARE(shown.colorAt(shown.stripPixel(0.5)), theme.phase(0));
    QCOMPARE(shown.colorAt(shown.stripPixel(4.5)), theme.phase(0));
    QCOMPARE(shown.colorAt(shown.stripPixel(8.5)), theme.phase(1));
    QCOMPARE(shown.colorAt(shown.stripPixel(24.5)), theme.phase(2));
}

void TestChartsTimeline::aNarrowPeakIsSeen()
{
    auto timeline = std::make_shared<StepTimeline>();
    constexpr int spans = 50'000;
    timeline->passes.push_back({Phase::Forward, 0, 0, 0, spans});
    for (int i = 0; i < spans; ++i) {
        StepTimeline::Span span{static_cast<double>(i), i + 1.0, 0, false, {}};
        span.components[0] = gib(i == 23'456 ? 40 : 10);
        timeline->spans.push_back(span);
    }
    timeline->peak = 23'456;
    Shown shown;
    shown.chart.setTimeline(0, timeline);
    QVERIFY(shown.isReady());
    const QImage image = shown.plot->grab().toImage();
    const int y = shown.pixel(0, 39).y();
    int columns = 0;
    for (int x = shown.plot->axisRect()->left(); x <= shown.plot->axisRect()->right(); ++x)
        columns += image.pixelColor(x, y) == Theme::current().component(Component::Parameters) ? 1 : 0;
    QCOMPARE(columns, 1);
}

void TestChartsTimeline::cursorReadsTheSpan()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    QTest::mouseMove(shown.plot, shown.pixel(3, 20)); // the pointer enters
    QTest::mouseMove(shown.plot, shown.pixel(9, 20));
    QVERIFY(shown.plot->readout()->visible());
    QCOMPARE(shown.plot->readout()->heading(), QStringLiteral("backward of micro-batch 1"));
    QCOMPARE(shown.valueOf(QStringLiteral("Activations")), QStringLiteral("14.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("Working set")), QStringLiteral("1.00 GiB"));
    QCOMPARE(shown.valueOf(QStringLiteral("Allocated")), QStringLiteral("45.00 GiB"));
    // Over the strip too.
    QTest::mouseMove(shown.plot, shown.stripPixel(25));
    QCOMPARE(shown.plot->readout()->heading(), QStringLiteral("optimizer step"));
    QTest::mouseMove(shown.plot, QPoint(2, 2));
    QVERIFY(!shown.plot->readout()->visible());
}

void TestChartsTimeline::keysMoveTheCursor()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    QTest::keyClick(&shown.chart, Qt::Key_P);
    QCOMPARE(shown.plot->cursorSpan(), std::optional<std::size_t>(7));
    QVERIFY(shown.chart.accessibleDescription().contains(QStringLiteral("forward of micro-batch 2")));
    QTest::keyClick(&shown.chart, Qt::Key_Right);
    QCOMPARE(shown.plot->cursorSpan(), std::optional<std::size_t>(8));
    QTest::keyClick(&shown.chart, Qt::Key_Right, Qt::ControlModifier);
    QCOMPARE(shown.plot->cursorSpan(), std::optional<std::size_t>(12));
    QTest::keyClick(&shown.chart, Qt::Key_Left);
    QCOMPARE(shown.plot->cursorSpan(), std::optional<std::size_t>(11));
    for (int i = 0; i < 4; ++i)
        QTest::keyClick(&shown.chart, Qt::Key_Plus);
    const StepRange zoomed = shown.chart.range().range();
    QVERIFY(zoomed.span() < 10);
    for (int i = 0; i < 20; ++i)
        QTest::keyClick(&shown.chart, Qt::Key_Right);
    QCOMPARE(shown.plot->cursorSpan(), std::optional<std::size_t>(16)); // the last one, brought into sight
    QCOMPARE(shown.chart.range().range().last, 28.0);
    QTest::keyClick(&shown.chart, Qt::Key_Home);
    QVERIFY(shown.chart.range().isFitted());
    QTest::keyClick(&shown.chart, Qt::Key_Escape);
    QVERIFY(!shown.plot->cursorSpan());
}

void TestChartsTimeline::capacityIsDrawnWhereItFits()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches()); // reaches 46 GiB
    shown.chart.setCapacity(gib(40));
    QVERIFY(shown.plot->showsCapacity());
    shown.chart.setCapacity(gib(70));
    QVERIFY(shown.plot->showsCapacity());
    QVERIFY(shown.bytes()->range().upper > 70);
    shown.chart.setCapacity(gib(141));
    QVERIFY(!shown.plot->showsCapacity());
    QVERIFY(shown.bytes()->range().upper < 60);
}

/// The peak is at a third of the step: a wide chart has room for the label behind it, a narrow one has not.
void TestChartsTimeline::capacityLabelLeavesThePeakAlone()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    shown.chart.setCapacity(gib(45), QStringLiteral("a card of a long name 45.0 GiB"));
    const auto isShownAt = [&shown](int width) {
        shown.chart.resize(width, 420);
        shown.chart.grab(); // lays it out
        shown.plot->replot();
        return shown.plot->showsCapacityLabel();
    };
    QVERIFY(isShownAt(900));
    QVERIFY(!isShownAt(260));
    QVERIFY(isShownAt(900));
    shown.chart.setCapacity(gib(70), QStringLiteral("a card of a long name 70.0 GiB"));
    QVERIFY(isShownAt(260)); // nothing reaches it
}

void TestChartsTimeline::oldDrawingStaysWhileBusy()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    const QColor before = shown.colorAt(shown.pixel(3.5, 5));
    shown.chart.setTimeline(1, nullptr);
    QVERIFY(shown.chart.isBusy());
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    const QColor faint = shown.colorAt(shown.pixel(3.5, 5));
    QVERIFY(faint != before && faint != Theme::current().window);
    QCOMPARE(shown.chart.title(), QStringLiteral("One training step, stage 1"));
    shown.chart.setTimeline(1, twoMicroBatches());
    QVERIFY(!shown.chart.isBusy());
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QCOMPARE(shown.colorAt(shown.pixel(3.5, 5)), before);
}

void TestChartsTimeline::saysWhyThereIsNone()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    const QPoint inside = shown.pixel(3.5, 5);
    shown.chart.clear(QStringLiteral("No timeline: no tape describes Adafactor"));
    QCOMPARE(shown.chart.accessibleDescription(), QStringLiteral("No timeline: no tape describes Adafactor"));
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QCOMPARE(shown.colorAt(inside), Theme::current().window);
    QCOMPARE(shown.chart.caption(), QString());
    shown.chart.setTimeline(0, twoMicroBatches());
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QCOMPARE(shown.colorAt(inside), Theme::current().component(Component::Parameters));
}

void TestChartsTimeline::exportsAndValues()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    QTemporaryDir folder;
    for (const QString& suffix : {QStringLiteral("png"), QStringLiteral("pdf")}) {
        const QString path = folder.filePath(QStringLiteral("step.") + suffix);
        QVERIFY(shown.chart.saveImage(path));
        QVERIFY(QFileInfo(path).size() > 2000);
    }
    const QStringList lines = shown.chart.values().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 1 + 4 * layers + 1);
    QVERIFY(
        lines[0].startsWith(QStringLiteral("phase\tmicro_batch\tchunk\trecomputing\tbegin\tend\tparameters_bytes")));
    QVERIFY(lines[1].startsWith(QStringLiteral("forward\t1\t1\t0\t0\t1\t10737418240\t0\t21474836480\t2147483648")));
    QVERIFY(lines.last().startsWith(QStringLiteral("optimizer\t\t\t0\t24\t28\t")));
    QVERIFY(lines.last().endsWith(QStringLiteral("\t32212254720")));
}

void TestChartsTimeline::zoomSurvivesANewTimeline()
{
    Shown shown;
    shown.chart.setTimeline(0, twoMicroBatches());
    QVERIFY(shown.isReady());
    shown.chart.range().setRange({4, 12});
    shown.chart.setTimeline(0, twoMicroBatches(1));
    QCOMPARE(shown.chart.range().range(), (StepRange{4, 12}));
    QCOMPARE(shown.horizontal()->range().lower, 4.0);
    QVERIFY(shown.chart.caption().startsWith(QStringLiteral("Peak 47.0 GiB in forward of micro-batch 2")));
}

QTEST_MAIN(TestChartsTimeline)
#include "tst_charts_timeline.moc"
