// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme/theme.h"
#include "ui/shown_peaks.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <functional>

using namespace headroom;
using test::longRun;
using test::RunBuilder;
using test::ShownPeaks;

class TestChartsPeaks : public QObject
{
    Q_OBJECT

private slots:
    void init() { test::prepareChartTest(); }
    void readoutHoldsLast_data();
    void readoutHoldsLast();
    void startsAtThePeak();
    void aSpikeInAMillionIsDrawnToItsHeight();
    void capacityIsAlwaysInSight_data();
    void capacityIsAlwaysInSight();
    void tickLabelsNeverRepeat_data();
    void tickLabelsNeverRepeat();
    void themeChangesEveryColour();
    void aSingleSampleHasAxes();
    void emptyStatesSayWhatToDo();
    void exports_data();
    void exports();
    void foldedChartIsDrawnWhole();
    void exportErrorsAreSentences();
    void aMillionRecordsStaySwift();
    void copiesVisibleValues();
    void describesItself();
};

void TestChartsPeaks::readoutHoldsLast_data()
{
    QTest::addColumn<qint64>("step");
    QTest::addColumn<QString>("forward");
    QTest::addColumn<QString>("backward");
    QTest::addColumn<QString>("heading");
    QTest::newRow("only one yet") << qint64(10) << QStringLiteral("1.00 GiB") << QString()
                                  << QStringLiteral("step 10 · line 10");
    QTest::newRow("one held") << qint64(15) << QStringLiteral("1.00 GiB") << QStringLiteral("4.00 GiB")
                              << QStringLiteral("step 15 · line 20");
    QTest::newRow("between, nearer to the next") << qint64(19) << QStringLiteral("1.00 GiB")
                                                 << QStringLiteral("4.00 GiB") << QStringLiteral("step 19 · line 20");
    QTest::newRow("new value") << qint64(20) << QStringLiteral("512.0 MiB") << QStringLiteral("4.00 GiB")
                               << QStringLiteral("step 20 · line 20");
    QTest::newRow("last") << qint64(30) << QStringLiteral("2.50 GiB") << QStringLiteral("4.00 GiB")
                          << QStringLiteral("step 30 · line 20");
}

void TestChartsPeaks::readoutHoldsLast()
{
    QFETCH(qint64, step);
    QFETCH(QString, forward);
    QFETCH(QString, backward);
    QFETCH(QString, heading);
    ShownPeaks shown(
        RunBuilder().add(10, 0, 0, gib(1)).add(15, 1, 0, gib(4)).add(20, 0, 0, mib(512)).add(30, 0, 0, mib(2560)).run);
    QVERIFY(shown.isReady());
    shown.chart.viewState()->setCursor(step);
    QVERIFY(shown.plot->readout()->visible());
    QCOMPARE(shown.valueOf(QStringLiteral("forward")), forward);
    QCOMPARE(shown.valueOf(QStringLiteral("backward")), backward);
    QCOMPARE(shown.plot->readout()->heading(), heading);
}

void TestChartsPeaks::startsAtThePeak()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    QCOMPARE(shown.chart.viewState()->cursor(), std::optional<qint64>(121));
    QCOMPARE(shown.plot->readout()->rows().front().name, QStringLiteral("backward")); // highest first
}

void TestChartsPeaks::aSpikeInAMillionIsDrawnToItsHeight()
{
    ShownPeaks shown(longRun(1'000'000, 654'321));
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    shown.chart.viewState()->setCursor({});
    const QImage image = shown.plot->grab().toImage();
    const int column = shown.pixel(654'321, 0).x();
    const int expected = shown.pixel(0, 70).y();
    const QColor line = Theme::current().phase(1);
    int highest = image.height();
    for (int x = column - 1; x <= column + 2; ++x) {
        for (int y = expected - 3; y < image.height(); ++y) {
            const QColor pixel = image.pixelColor(x, y);
            const int distance = std::abs(pixel.red() - line.red()) + std::abs(pixel.green() - line.green())
                + std::abs(pixel.blue() - line.blue());
            if (distance < 120) {
                highest = std::min(highest, y);
                break;
            }
        }
    }
    QVERIFY2(std::abs(highest - expected) <= 1, qPrintable(QStringLiteral("%1, not %2").arg(highest).arg(expected)));
}

void TestChartsPeaks::capacityIsAlwaysInSight_data()
{
    QTest::addColumn<qint64>("peak");
    QTest::newRow("far below") << qint64(mib(10).value);
    QTest::newRow("just below") << qint64(gib(79).value);
    QTest::newRow("above") << qint64(gib(500).value);
}

void TestChartsPeaks::capacityIsAlwaysInSight()
{
    QFETCH(qint64, peak);
    ShownPeaks shown(RunBuilder().add(1, 0, 0, {peak}).add(2, 0, 0, {peak}).run);
    shown.chart.setCapacity(gib(80), QStringLiteral("H100 80 GB"));
    QVERIFY(shown.isReady());
    QCOMPARE(shown.bytes()->range().lower, 0.0);
    QVERIFY(shown.bytes()->range().upper > 80);
    QVERIFY(shown.bytes()->range().upper > Bytes{peak}.gib());
    shown.wheel(shown.pixel(1.5, 10), 1200);
    QVERIFY(shown.bytes()->range().upper > 80);
}

void TestChartsPeaks::tickLabelsNeverRepeat_data()
{
    QTest::addColumn<qint64>("peak");
    QTest::addColumn<QStringList>("some");
    QTest::newRow("1 KiB") << qint64(1024) << QStringList{QStringLiteral("0.25"), QStringLiteral("1.00")};
    QTest::newRow("3 MiB") << qint64(mib(3).value) << QStringList{QStringLiteral("2")};
    QTest::newRow("100 MiB") << qint64(mib(100).value) << QStringList{QStringLiteral("64")};
    QTest::newRow("1 GiB") << qint64(gib(1).value) << QStringList{QStringLiteral("0.50"), QStringLiteral("1.00")};
    QTest::newRow("24 GiB") << qint64(gib(24).value) << QStringList{QStringLiteral("16"), QStringLiteral("24")};
    QTest::newRow("80 GiB") << qint64(gib(80).value) << QStringList{QStringLiteral("64"), QStringLiteral("80")};
    QTest::newRow("1 PiB") << qint64(gib(1 << 20).value) << QStringList{QStringLiteral("1048576")};
}

void TestChartsPeaks::tickLabelsNeverRepeat()
{
    QFETCH(qint64, peak);
    QFETCH(QStringList, some);
    ShownPeaks shown(RunBuilder().add(0, 0, 0, {peak}).add(5, 0, 0, {peak}).run);
    QVERIFY(shown.isReady());
    QStringList labels = shown.bytes()->tickVectorLabels();
    QVERIFY2(labels.size() >= 3, qPrintable(labels.join(QLatin1Char(' '))));
    for (const QString& label : some)
        QVERIFY2(labels.contains(label), qPrintable(labels.join(QLatin1Char(' '))));
    QCOMPARE(labels.removeDuplicates(), 0);
    QStringList stepLabels = shown.steps()->tickVectorLabels();
    QCOMPARE(stepLabels.removeDuplicates(), 0);
}

void TestChartsPeaks::themeChangesEveryColour()
{
    ShownPeaks shown(test::typicalRun());
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    const auto colors = [&] {
        QList<QColor> all{shown.bytes()->tickLabelColor(), shown.steps()->tickLabelColor(),
                          shown.bytes()->grid()->pen().color(), shown.plot->grab().toImage().pixelColor(2, 2)};
        for (int i = 0; i < shown.plot->graphCount(); ++i)
            all.append(shown.plot->graph(i)->pen().color());
        for (int i = 0; i < shown.plot->itemCount(); ++i) {
            if (const auto* line = qobject_cast<QCPItemStraightLine*>(shown.plot->item(i)))
                all.append(line->pen().color());
            if (const auto* text = qobject_cast<QCPItemText*>(shown.plot->item(i)))
                all.append(text->color());
            if (const auto* rect = qobject_cast<QCPItemRect*>(shown.plot->item(i)))
                all.append(rect->pen().color());
        }
        for (const ReadoutItem::Row& row : shown.plot->readout()->rows())
            all.append(row.color);
        return all;
    };
    const QList<QColor> light = colors();
    QVERIFY(light.size() > 15);
    applyTheme(*qApp, ThemeChoice::Dark);
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    const QList<QColor> dark = colors();
    QCOMPARE(dark.size(), light.size());
    for (qsizetype i = 0; i < light.size(); ++i)
        QVERIFY2(light[i] != dark[i], qPrintable(QStringLiteral("colour %1 stayed %2").arg(i).arg(light[i].name())));
}

void TestChartsPeaks::aSingleSampleHasAxes()
{
    ShownPeaks shown(RunBuilder().add(7, 0, 0, gib(10)).run);
    QVERIFY(shown.isReady());
    QVERIFY(shown.steps()->range().contains(7));
    QVERIFY(shown.steps()->range().size() >= ViewState::minimumSpan);
    QVERIFY(shown.bytes()->range().upper > 10);
    QVERIFY(shown.steps()->tickLabels());
    QVERIFY(!shown.graph(QStringLiteral("forward"))->scatterStyle().isNone()); // a point without a line
    QVERIFY(shown.plot->grab().toImage().pixelColor(shown.pixel(7, 10)) != Theme::current().window);
    shown.chart.setRun(std::make_shared<Run>(test::typicalRun())); // 401 points stand too close for markers
    shown.plot->replot(QCustomPlot::rpImmediateRefresh);
    QVERIFY(shown.graph(QStringLiteral("forward"))->scatterStyle().isNone());
}

void TestChartsPeaks::emptyStatesSayWhatToDo()
{
    ShownPeaks shown{Run()};
    QVERIFY(shown.isReady());
    const auto message = [&] {
        for (int i = 0; i < shown.plot->itemCount(); ++i) {
            const auto* text = qobject_cast<QCPItemText*>(shown.plot->item(i));
            if (text && text->visible() && text->text().contains(QLatin1Char('\n')))
                return text->text();
        }
        return QString();
    };
    QVERIFY(message().startsWith(QLatin1StringView("No peaks found")));
    shown.chart.setRun(nullptr);
    QVERIFY(message().startsWith(QLatin1StringView("No log open")));
    QCOMPARE(shown.chart.accessibleDescription(), QStringLiteral("No measurements."));
    for (const Qt::Key key : {Qt::Key_Left, Qt::Key_Plus, Qt::Key_Home, Qt::Key_Return, Qt::Key_Backspace})
        QTest::keyClick(&shown.chart, key);
    QTest::mouseMove(shown.plot, QPoint(300, 100));
    QTest::mouseClick(shown.plot, Qt::LeftButton, {}, QPoint(300, 100));
    shown.chart.setRun(std::make_shared<Run>(test::typicalRun()));
    QVERIFY(message().isEmpty());
    QCOMPARE(shown.chart.values().count(QLatin1Char('\n')), 402);
}

void TestChartsPeaks::exports_data()
{
    QTest::addColumn<QString>("suffix");
    QTest::addColumn<QByteArray>("begins");
    QTest::newRow("png") << QStringLiteral("png") << QByteArray("\x89PNG");
    QTest::newRow("pdf") << QStringLiteral("pdf") << QByteArray("%PDF-");
#ifdef HEADROOM_HAS_SVG
    QTest::newRow("svg") << QStringLiteral("svg") << QByteArray("<?xml");
#endif
}

void TestChartsPeaks::exports()
{
    QFETCH(QString, suffix);
    QFETCH(QByteArray, begins);
    ShownPeaks shown(test::typicalRun());
    shown.chart.setCapacity(gib(80));
    QVERIFY(shown.isReady());
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("peaks.") + suffix);
    const auto saved = shown.chart.saveImage(path);
    QVERIFY2(saved, qPrintable(saved ? QString() : saved.error()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray content = file.readAll();
    QVERIFY(content.startsWith(begins));
    QVERIFY(content.size() > 4000);
    if (suffix == QLatin1StringView("png")) {
        QCOMPARE(QImage(path).size(), shown.chart.size() * 2);
        QCOMPARE(shown.plot->bufferDevicePixelRatio(), shown.plot->devicePixelRatioF()); // set back
    } else if (suffix == QLatin1StringView("pdf")) {
        QVERIFY(content.contains("/MediaBox [0 0 750.000000 315.000000]")); // 1000 × 420 px at 96 per inch, in points
    } else {
        QVERIFY(content.contains("viewBox=\"0 0 1000 420\""));
        QVERIFY(content.contains("backward")); // the legend, as text
        QVERIFY(!content.contains("<image"));
    }
}

/// Dragged away between the others, and copied all the same.
void TestChartsPeaks::foldedChartIsDrawnWhole()
{
    ShownPeaks shown(test::typicalRun());
    QVERIFY(shown.isReady());
    shown.chart.setMinimumSize(0, 0);
    shown.chart.resize(700, 0);
    const QSize folded = shown.chart.size();
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("peaks.png"));
    QVERIFY(shown.chart.saveImage(path));
    QCOMPARE(QImage(path).size(), QSize(1600, 900));
    QCOMPARE(shown.chart.size(), folded);
}

void TestChartsPeaks::exportErrorsAreSentences()
{
    ShownPeaks shown(test::typicalRun());
    const auto unknown = shown.chart.saveImage(QStringLiteral("peaks.webp"));
    QVERIFY(!unknown);
    QCOMPARE(unknown.error(), QStringLiteral("peaks.webp: charts are saved as .png, .pdf or .svg."));
    const auto missing = shown.chart.saveImage(QStringLiteral("/nonexistent/peaks.png"));
    QVERIFY(!missing);
    QVERIFY(missing.error().startsWith(QLatin1StringView("/nonexistent/peaks.png: ")));
}

void TestChartsPeaks::aMillionRecordsStaySwift()
{
    RunBuilder builder;
    std::uint32_t noise = 1;
    for (std::uint32_t step = 0; step < 333'333; ++step) {
        for (int phase = 0; phase < 3; ++phase) {
            noise = noise * 1664525U + 1013904223U;
            const Bytes allocated = gib(20 * (phase + 1)) + mib(noise >> 22U);
            builder.add(step, phase, 0, allocated, (allocated + gib(5)).value);
        }
    }
    ShownPeaks shown(builder.run);
    QVERIFY(shown.isReady());
    const auto median = [](const std::function<void(int)>& work) {
        std::vector<qint64> nanoseconds;
        for (int i = 0; i < 11; ++i) {
            QElapsedTimer timer;
            timer.start();
            work(i);
            nanoseconds.push_back(timer.nsecsElapsed());
        }
        std::nth_element(nanoseconds.begin(), nanoseconds.begin() + 5, nanoseconds.end());
        return static_cast<double>(nanoseconds[5]) / 1e6;
    };
    const double replot = median([&](int) { shown.plot->replot(QCustomPlot::rpImmediateRefresh); });
    const double cursor = median([&](int i) { shown.chart.viewState()->setCursor(1000 + i); });
    qInfo("a million records: replot %.1f ms, cursor %.2f ms (medians)", replot, cursor);
    // Loose, for slow machines and sanitizers; drawing every point takes hundreds of milliseconds a line.
    QVERIFY(replot < 150);
    QVERIFY(cursor < 16);
}

void TestChartsPeaks::copiesVisibleValues()
{
    ShownPeaks shown(RunBuilder()
                         .add(10, 0, 0, gib(1), gib(2).value)
                         .add(15, 1, 0, gib(4))
                         .add(20, 0, 0, mib(512))
                         .add(30, 0, 0, gib(3))
                         .run);
    shown.chart.viewState()->setRange({10, 20});
    QCOMPARE(shown.chart.values(),
             QStringLiteral("step\tforward_bytes\tbackward_bytes\treserved_bytes\tline\n"
                            "10\t1073741824\t\t2147483648\t10\n"
                            "15\t\t4294967296\t\t20\n"
                            "20\t536870912\t\t\t30\n"));
}

void TestChartsPeaks::describesItself()
{
    ShownPeaks shown(RunBuilder().add(3, 0, 0, gib(1)).add(4, 1, 0, gib(4)).run);
    shown.chart.setCapacity(gib(80));
    QCOMPARE(shown.chart.accessibleName(), QStringLiteral("Measured peak per phase"));
    QCOMPARE(shown.chart.accessibleDescription(),
             QStringLiteral("Peaks: forward 1.00 GiB at step 3, backward 4.00 GiB at step 4. Capacity 80.0 GiB."));
}

QTEST_MAIN(TestChartsPeaks)
#include "tst_charts_peaks.moc"
