// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/metric_strips.h"

#include "charts/gib_text.h"
#include "charts/plot_canvas.h"
#include "theme/theme.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr int stripHeight = 32;
constexpr int timersHeight = 72;

/// `number`: of the line in its strip.
QColor colorOf(Metric metric, std::size_t number, const Theme& theme)
{
    // Phases of other names come after these in the theme, so no phase of a usual log has the colour.
    return metric == Metric::Timer ? theme.phase(3 + number)
                                   : theme.phase(theme.phases.size() - 1 - static_cast<std::size_t>(metric));
}

/// Timers are told in milliseconds until one of them takes a second.
double scaleOf(const std::vector<MetricLine>& lines)
{
    const bool isShort = std::all_of(lines.begin(), lines.end(), [](const MetricLine& line) {
        return line.metric == Metric::Timer && *std::max_element(line.values.begin(), line.values.end()) < 1;
    });
    return isShort ? 1000 : 1;
}

/// The strips: each line has its own, timers share one.
std::vector<std::vector<MetricLine>> grouped(const std::vector<MetricLine>& lines)
{
    std::vector<std::vector<MetricLine>> groups;
    for (const MetricLine& line : lines) {
        const bool isNext
            = line.metric == Metric::Timer && !groups.empty() && groups.back().front().metric == Metric::Timer;
        if (isNext)
            groups.back().push_back(line);
        else
            groups.push_back({line});
    }
    return groups;
}

/// Two ticks or so, with labels as short as "41.5k".
class StripTicker : public QCPAxisTicker
{
public:
    StripTicker() { setTickCount(2); }

protected:
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale& locale, QChar, int) override
    {
        if (std::fabs(tick) >= 1e6)
            return locale.toString(tick / 1e6, 'g', 4) + u'M';
        if (std::fabs(tick) >= 1e4)
            return locale.toString(tick / 1e3, 'g', 4) + u'k';
        return locale.toString(tick, 'g', 4);
    }
};

/// What does not change: an axis in two or three ticks.
void setUp(QCPAxisRect& rect, int height)
{
    rect.addAxes(QCPAxis::atBottom | QCPAxis::atLeft);
    rect.setAutoMargins(QCP::msLeft | QCP::msRight);
    rect.setMargins(QMargins(0, 6, 0, 2));
    rect.setMinimumSize(10, height);
    rect.setMaximumSize(QWIDGETSIZE_MAX, height);
    rect.axis(QCPAxis::atBottom)->setTickLabels(false);
    rect.axis(QCPAxis::atLeft)->setTicker(QSharedPointer<StripTicker>::create());
}

} // namespace

QString metricName(Metric metric)
{
    switch (metric) {
    case Metric::StepTime:
        return MetricStrips::tr("step time");
    case Metric::TokensPerSecond:
        return MetricStrips::tr("tokens/s");
    case Metric::Timer:
        return MetricStrips::tr("times");
    case Metric::Loss:
        break;
    }
    return MetricStrips::tr("loss");
}

QString metricName(const MetricLine& line)
{
    if (line.metric != Metric::Timer)
        return metricName(line.metric);
    const QString name = QString::fromStdString(line.timer.phase);
    return line.timer.rank < 0 ? name : name + QStringLiteral(" · ") + MetricStrips::tr("rank %1").arg(line.timer.rank);
}

QString metricText(Metric metric, double value)
{
    switch (metric) {
    case Metric::StepTime:
        return MetricStrips::tr("%1 s").arg(QLocale().toString(value, 'g', 4));
    case Metric::TokensPerSecond:
        return std::fabs(value) < 1e15 ? countText(std::llround(value)) : QLocale().toString(value, 'g', 4);
    case Metric::Timer:
        return std::fabs(value) < 1 ? MetricStrips::tr("%1 ms").arg(QLocale().toString(value * 1000, 'g', 4))
                                    : MetricStrips::tr("%1 s").arg(QLocale().toString(value, 'g', 4));
    case Metric::Loss:
        break;
    }
    return QLocale().toString(value, 'g', 5);
}

MetricStrips::MetricStrips(PlotCanvas& plot, QCPMarginGroup& margins, int firstRow)
    : QObject(&plot)
    , m_plot(plot)
    , m_margins(margins)
    , m_firstRow(firstRow)
{
}

void MetricStrips::setLines(const std::vector<MetricLine>& lines)
{
    const std::vector<std::vector<MetricLine>> groups = grouped(lines);
    const bool isSameSet
        = std::equal(groups.begin(), groups.end(), m_strips.begin(), m_strips.end(),
                     [](const std::vector<MetricLine>& a, const Strip& b) {
                         return a.front().metric == b.lines.front().metric && a.size() == b.lines.size();
                     });
    if (!isSameSet) {
        for (const Strip& strip : m_strips)
            remove(strip);
        m_plot.plotLayout()->simplify();
        m_strips.clear();
        for (std::size_t i = 0; i < groups.size(); ++i)
            m_strips.push_back(makeStrip(m_firstRow + static_cast<int>(i), groups[i]));
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        m_strips[i].lines = groups[i];
        fill(m_strips[i]);
    }
    applyTheme(Theme::current());
}

MetricStrips::Strip MetricStrips::makeStrip(int row, const std::vector<MetricLine>& lines)
{
    Strip strip;
    m_plot.plotLayout()->insertRow(row);
    strip.rect = new QCPAxisRect(&m_plot, false);
    setUp(*strip.rect, lines.front().metric == Metric::Timer ? timersHeight : stripHeight);
    m_plot.plotLayout()->addElement(row, 0, strip.rect);
    strip.rect->setMarginGroup(QCP::msLeft | QCP::msRight, &m_margins);
    QCPAxis* steps = strip.rect->axis(QCPAxis::atBottom);
    QCPAxis* values = strip.rect->axis(QCPAxis::atLeft);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        strip.graphs.push_back(m_plot.addGraph(steps, values));
        strip.graphs.back()->setLineStyle(QCPGraph::lsStepLeft);
    }
    strip.name = makePlotText(&m_plot);
    strip.name->position->setAxisRect(strip.rect);
    strip.name->position->setCoords(0, 0);
    strip.name->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    strip.name->setPadding(QMargins(4, 0, 4, 0));
    strip.cursor = new QCPItemStraightLine(&m_plot);
    strip.cursor->setSelectable(false);
    strip.cursor->setClipAxisRect(strip.rect);
    strip.cursor->setLayer(m_plot.cursorLayer());
    strip.cursor->setVisible(false);
    for (QCPItemPosition* position : strip.cursor->positions())
        position->setAxes(steps, values);
    return strip;
}

void MetricStrips::remove(const Strip& strip)
{
    m_plot.removeItem(strip.cursor);
    m_plot.removeItem(strip.name);
    for (QCPGraph* graph : strip.graphs)
        m_plot.removeGraph(graph);
    m_plot.plotLayout()->remove(strip.rect);
}

void MetricStrips::fill(Strip& strip) const
{
    const bool isTimers = strip.lines.front().metric == Metric::Timer;
    const double scale = scaleOf(strip.lines);
    QCPRange all;
    for (std::size_t k = 0; k < strip.lines.size(); ++k) {
        const MetricLine& line = strip.lines[k];
        QVector<QCPGraphData> points(static_cast<qsizetype>(line.steps.size()));
        for (std::size_t i = 0; i < line.steps.size(); ++i)
            points[static_cast<qsizetype>(i)] = {static_cast<double>(line.steps[i]), line.values[i] * scale};
        strip.graphs[k]->data()->set(points, true);
        const auto [least, most] = std::minmax_element(line.values.begin(), line.values.end());
        const QCPRange range(*least * scale, *most * scale);
        all = k == 0 ? range : QCPRange(std::min(all.lower, range.lower), std::max(all.upper, range.upper));
    }
    const double pad = std::max((all.upper - all.lower) * 0.1, std::fabs(all.upper) * 0.02 + 1e-12);
    strip.rect->axis(QCPAxis::atLeft)->setRange(all.lower - pad, all.upper + pad);
    strip.name->setText(isTimers ? (scale > 1 ? tr("times, ms") : tr("times, s"))
                                 : metricName(strip.lines.front().metric));
}

void MetricStrips::setRange(const QCPRange& steps)
{
    for (const Strip& strip : m_strips)
        strip.rect->axis(QCPAxis::atBottom)->setRange(steps);
}

void MetricStrips::setCursor(double step)
{
    for (const Strip& strip : m_strips) {
        strip.cursor->setVisible(std::isfinite(step));
        if (std::isfinite(step)) {
            strip.cursor->point1->setCoords(step, 0);
            strip.cursor->point2->setCoords(step, 1);
        }
    }
}

void MetricStrips::applyTheme(const Theme& theme)
{
    QPen cursorPen(theme.text, 1);
    cursorPen.setDashPattern({2, 3});
    for (const Strip& strip : m_strips) {
        m_plot.styleAxes(theme, strip.rect->axis(QCPAxis::atBottom), strip.rect->axis(QCPAxis::atLeft));
        for (std::size_t i = 0; i < strip.graphs.size(); ++i)
            strip.graphs[i]->setPen(QPen(colorOf(strip.lines[i].metric, i, theme), 1));
        strip.name->setColor(theme.mutedText);
        strip.name->setFont(m_plot.smallFont());
        strip.name->setBrush(theme.window);
        strip.cursor->setPen(cursorPen);
    }
}

QRect MetricStrips::area() const
{
    return m_strips.empty() ? QRect() : m_strips.front().rect->rect().united(m_strips.back().rect->rect());
}

std::vector<ReadoutItem::Row> MetricStrips::rowsAt(std::int64_t step) const
{
    std::vector<ReadoutItem::Row> rows;
    for (const Strip& strip : m_strips) {
        for (std::size_t k = 0; k < strip.lines.size(); ++k) {
            const MetricLine& line = strip.lines[k];
            if (const auto i = line.holdLast(step))
                rows.push_back({colorOf(line.metric, k, Theme::current()), metricName(line),
                                metricText(line.metric, line.values[*i])});
        }
    }
    return rows;
}

} // namespace headroom
