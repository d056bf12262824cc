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

QColor colorOf(Metric metric, const Theme& theme)
{
    // Phases of other names come after these in the theme, so no phase of a usual log has the colour.
    return theme.phase(theme.phases.size() - 1 - static_cast<std::size_t>(metric));
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
void setUp(QCPAxisRect& rect)
{
    rect.addAxes(QCPAxis::atBottom | QCPAxis::atLeft);
    rect.setAutoMargins(QCP::msLeft | QCP::msRight);
    rect.setMargins(QMargins(0, 6, 0, 2));
    rect.setMinimumSize(10, stripHeight);
    rect.setMaximumSize(QWIDGETSIZE_MAX, stripHeight);
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
    case Metric::Loss:
        break;
    }
    return MetricStrips::tr("loss");
}

QString metricText(Metric metric, double value)
{
    switch (metric) {
    case Metric::StepTime:
        return MetricStrips::tr("%1 s").arg(QLocale().toString(value, 'g', 4));
    case Metric::TokensPerSecond:
        return std::fabs(value) < 1e15 ? countText(std::llround(value)) : QLocale().toString(value, 'g', 4);
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
    const bool isSameSet = std::equal(lines.begin(), lines.end(), m_strips.begin(), m_strips.end(),
                                      [](const MetricLine& a, const Strip& b) { return a.metric == b.line.metric; });
    if (!isSameSet) {
        for (const Strip& strip : m_strips)
            remove(strip);
        m_plot.plotLayout()->simplify();
        m_strips.clear();
        for (std::size_t i = 0; i < lines.size(); ++i)
            m_strips.push_back(makeStrip(m_firstRow + static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        m_strips[i].line = lines[i];
        fill(m_strips[i]);
    }
    applyTheme(Theme::current());
}

MetricStrips::Strip MetricStrips::makeStrip(int row)
{
    Strip strip;
    m_plot.plotLayout()->insertRow(row);
    strip.rect = new QCPAxisRect(&m_plot, false);
    setUp(*strip.rect);
    m_plot.plotLayout()->addElement(row, 0, strip.rect);
    strip.rect->setMarginGroup(QCP::msLeft | QCP::msRight, &m_margins);
    QCPAxis* steps = strip.rect->axis(QCPAxis::atBottom);
    QCPAxis* values = strip.rect->axis(QCPAxis::atLeft);
    strip.graph = m_plot.addGraph(steps, values);
    strip.graph->setLineStyle(QCPGraph::lsStepLeft);
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
    m_plot.removeGraph(strip.graph);
    m_plot.plotLayout()->remove(strip.rect);
}

void MetricStrips::fill(Strip& strip) const
{
    const MetricLine& line = strip.line;
    QVector<QCPGraphData> points(static_cast<qsizetype>(line.steps.size()));
    for (std::size_t i = 0; i < line.steps.size(); ++i)
        points[static_cast<qsizetype>(i)] = {static_cast<double>(line.steps[i]), line.values[i]};
    strip.graph->data()->set(points, true);
    strip.name->setText(metricName(line.metric));
    const auto [least, most] = std::minmax_element(line.values.begin(), line.values.end());
    const double pad = std::max((*most - *least) * 0.1, std::fabs(*most) * 0.02 + 1e-12);
    strip.rect->axis(QCPAxis::atLeft)->setRange(*least - pad, *most + pad);
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
        strip.graph->setPen(QPen(colorOf(strip.line.metric, theme), 1));
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
        if (const auto i = strip.line.holdLast(step))
            rows.push_back({colorOf(strip.line.metric, Theme::current()), metricName(strip.line.metric),
                            metricText(strip.line.metric, strip.line.values[*i])});
    }
    return rows;
}

} // namespace headroom
