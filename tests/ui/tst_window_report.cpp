// SPDX-License-Identifier: GPL-3.0-or-later
//
// The report against the window: the numbers in its charts are read from the file and from the charts on screen.
#include "charts/peaks_chart.h"
#include "charts/stages_chart.h"
#include "ui/window_fixture.h"
#include "units/number.h"
#include "window/file_commands.h"
#include "window/workbench.h"

#include <QRegularExpression>
#include <QtTest>

#include <algorithm>
#include <map>

using namespace headroom;

namespace {

/// A tab-separated text as rows of cells by the names in its first line.
std::vector<std::map<QString, QString>> tableOf(const QString& text)
{
    std::vector<std::map<QString, QString>> rows;
    const QStringList lines = text.split(u'\n', Qt::SkipEmptyParts);
    const QStringList names = lines.value(0).split(u'\t');
    for (const QString& line : lines.mid(1)) {
        const QStringList cells = line.split(u'\t');
        rows.emplace_back();
        for (qsizetype i = 0; i < names.size(); ++i) {
            rows.back()[names[i]] = cells.value(i);
        }
    }
    return rows;
}

/// The charts of a page, and what their axes say: GiB at a height.
struct Drawing
{
    QString svg;
    double zero = 0, perGib = 0;

    explicit Drawing(QString text)
        : svg(std::move(text))
    {
        const QRegularExpression tick(
            QStringLiteral("y1=\"([0-9.]+)\"[^>]*/><text[^>]*text-anchor=\"end\">([0-9.e+-]+) GiB"));
        auto ticks = tick.globalMatch(svg);
        while (ticks.hasNext()) {
            const auto match = ticks.next();
            const double gibs = match.captured(2).toDouble();
            if (gibs == 0) {
                zero = match.captured(1).toDouble();
            } else {
                perGib = (zero - match.captured(1).toDouble()) / gibs;
            }
        }
    }

    [[nodiscard]] double gibAt(double y) const { return (zero - y) / perGib; }
};

std::vector<Drawing> drawingsOf(const QString& html)
{
    std::vector<Drawing> drawings;
    auto all = QRegularExpression(QStringLiteral("<svg.*?</svg>"), QRegularExpression::DotMatchesEverythingOption)
                   .globalMatch(html);
    while (all.hasNext()) {
        drawings.emplace_back(all.next().captured());
    }
    return drawings;
}

} // namespace

class WindowReportTest : public WindowTestBase
{
    Q_OBJECT

private slots:
    void stagesAreThoseOfTheWindow();
    void peaksAreThoseOfTheWindow();
    void opensWithoutANetwork();

private:
    /// The page as the window saves it once its figures are exact; empty: that did not work.
    QString saved();
};

QString WindowReportTest::saved()
{
    const bool isExact = m_fixture->open()
        && QTest::qWaitFor([this] { return workspace().footprint()->engine == Engine::Replay; }, 20'000);
    m_fixture->window().files().saveReport(m_fixture->path(QStringLiteral("run.html")));
    return isExact ? QString::fromUtf8(WindowFixture::read(m_fixture->path(QStringLiteral("run.html")))) : QString();
}

void WindowReportTest::stagesAreThoseOfTheWindow()
{
    const std::vector<Drawing> drawings = drawingsOf(saved());
    QCOMPARE(drawings.size(), std::size_t{2});
    const auto stages = tableOf(workbench().stagesChart()->values());
    QCOMPARE(stages.size(), std::size_t{2});
    // Bars stand in slots from left to right; each part names itself and its size.
    const QRegularExpression part(
        QStringLiteral("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*><title>([a-z_ ]+): ([0-9.]+ GiB)</title>"));
    std::map<double, std::map<QString, QString>> bars;
    std::map<double, double> tops;
    auto parts = part.globalMatch(drawings[0].svg);
    while (parts.hasNext()) {
        const auto match = parts.next();
        const double x = match.captured(1).toDouble();
        bars[x][match.captured(3)] = match.captured(4);
        tops[x] = drawings[0].gibAt(match.captured(2).toDouble()); // the last part is the highest
    }
    QCOMPARE(bars.size(), stages.size());
    std::size_t stage = 0;
    for (const auto& [x, shown] : bars) {
        std::size_t found = 0;
        for (const auto& [column, cell] : stages[stage]) {
            const bool isPart = column.endsWith(QStringLiteral("_bytes")) && !column.contains(QStringLiteral("device"))
                && !column.contains(QStringLiteral("measured"));
            if (isPart && cell.toLongLong() > 0) {
                QString name = column.chopped(6);
                name.replace(u'_', u' ');
                QVERIFY2(shown.contains(name), qPrintable(name));
                QCOMPARE(shown.at(name), QString::fromStdString(formatGib(Bytes{cell.toLongLong()})));
                ++found;
            }
        }
        QCOMPARE(shown.size(), found);
        const double device = Bytes{stages[stage].at(QStringLiteral("device_bytes")).toLongLong()}.gib();
        QVERIFY2(qAbs(tops[x] / device - 1) < 0.005, qPrintable(QString::number(tops[x])));
        ++stage;
    }
}

void WindowReportTest::peaksAreThoseOfTheWindow()
{
    const std::vector<Drawing> drawings = drawingsOf(saved());
    QCOMPARE(drawings.size(), std::size_t{2});
    QTRY_VERIFY(!workbench().peaksChart()->isPreparing());
    const auto steps = tableOf(workbench().peaksChart()->values());
    QCOMPARE(steps.size(), std::size_t{20});
    auto lines = QRegularExpression(QStringLiteral("points=\"([^\"]+)\"")).globalMatch(drawings[1].svg);
    for (const char* phase : {"forward", "backward", "optimizer"}) {
        QVERIFY(lines.hasNext());
        std::vector<double> heights;
        for (const QString& point : lines.next().captured(1).split(u' ', Qt::SkipEmptyParts)) {
            heights.push_back(drawings[1].gibAt(point.section(u',', 1).toDouble()));
        }
        QCOMPARE(heights.size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const QString column = QString::fromLatin1(phase) + QStringLiteral("_bytes");
            QVERIFY(steps[i].contains(column));
            const double onScreen = Bytes{steps[i].at(column).toLongLong()}.gib();
            QVERIFY2(qAbs(heights[i] / onScreen - 1) < 0.005,
                     qPrintable(QStringLiteral("%1: %2, %3").arg(column).arg(heights[i]).arg(onScreen)));
        }
    }
    QVERIFY(!lines.hasNext());
}

void WindowReportTest::opensWithoutANetwork()
{
    const QString html = saved();
    QVERIFY(html.contains(QStringLiteral("<svg")));
    // Nothing is loaded from anywhere: no source, no link to a style, no import, no script.
    const QRegularExpression loads(
        QStringLiteral("\\ssrc\\s*=|<link|<script|<iframe|<object|@import|url\\(|https?:|//"));
    const auto match = loads.match(QString(html).remove(QRegularExpression(QStringLiteral("<title>[^<]*</title>"))));
    QVERIFY2(!match.hasMatch(), qPrintable(match.captured()));
}

QTEST_MAIN(WindowReportTest)
#include "tst_window_report.moc"
