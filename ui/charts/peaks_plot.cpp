// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double clickReach = 14; // pixels from a point that still mean it
constexpr double pixelsPerMarker = 16; // markers only where points are at least so far apart
constexpr qsizetype wideLinePoints = 3000; // above, lines are hair lines: wide ones cost ten times as much

QCPItemText* makeText(QCustomPlot* plot, QCPAxisRect* rect)
{
    auto* text = new QCPItemText(plot);
    text->setSelectable(false);
    text->setClipToAxisRect(false);
    text->position->setAxisRect(rect);
    text->position->setType(QCPItemPosition::ptAxisRectRatio);
    return text;
}

void fill(QCPGraph& graph, const StepLine& line)
{
    QVector<QCPGraphData> points(static_cast<qsizetype>(line.size()));
    for (std::size_t i = 0; i < line.size(); ++i)
        points[static_cast<qsizetype>(i)] = {static_cast<double>(line.steps[i]), Bytes{line.bytes[i]}.gib()};
    graph.data()->set(points, true);
}

} // namespace

PeaksPlot::PeaksPlot(QWidget* parent)
    : PlotCanvas(parent)
    , m_rect(axisRect())
    , m_margins(this)
    , m_overview(*this, m_margins)
    , m_gestures(*this, *m_rect)
    , m_capacityLine(*this, *m_rect)
    , m_unit(makeText(this, m_rect))
    , m_message(makeText(this, m_rect))
    , m_cursorLine(new QCPItemStraightLine(this))
    , m_readout(new ReadoutItem(this))
{
    plotLayout()->setRowSpacing(2);
    m_rect->setMarginGroup(QCP::msLeft | QCP::msRight, &m_margins);
    m_rect->setMinimumMargins(QMargins(30, 16, 14, 0));
    bytesAxis()->setTicker(QSharedPointer<BytesTicker>::create());
    stepAxis()->setTicker(QSharedPointer<StepTicker>::create());

    m_unit->position->setCoords(0, 0);
    m_unit->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    m_unit->setPadding(QMargins(0, 0, 6, 4));
    m_message->position->setCoords(0.5, 0.5);
    m_message->setTextAlignment(Qt::AlignCenter);
    m_message->setVisible(false);

    m_cursorLine->setSelectable(false);
    m_cursorLine->setClipAxisRect(m_rect);
    m_cursorLine->setLayer(cursorLayer());
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(m_rect);
    m_readout->setClipToAxisRect(false);
    for (QCPItemPosition* position : m_cursorLine->positions())
        position->setAxes(stepAxis(), bytesAxis());

    connect(&m_gestures, &RangeGestures::hovered, this, &PeaksPlot::hover);
    connect(&m_gestures, &RangeGestures::clicked, this, &PeaksPlot::click);
    connect(&m_gestures, &RangeGestures::left, this, [this] {
        if (m_view)
            m_view->setCursor(m_pinned);
    });
    // Markers and the box depend on pixels, which the layout of a replot decides.
    connect(this, &QCustomPlot::afterLayout, this, &PeaksPlot::stylePens);
    connect(this, &QCustomPlot::afterLayout, this, &PeaksPlot::showCursor);
    PeaksPlot::applyTheme(Theme::current());
}

void PeaksPlot::setViewState(ViewState* view)
{
    if (m_view)
        disconnect(m_view, nullptr, this, nullptr);
    m_view = view;
    m_gestures.setViewState(view);
    m_overview.setViewState(view);
    if (!view)
        return;
    connect(view, &ViewState::rangeChanged, this, &PeaksPlot::showRange);
    connect(view, &ViewState::cursorChanged, this, [this] {
        showCursor();
        cursorLayer()->replot();
    });
    showRange();
}

void PeaksPlot::setSeries(std::shared_ptr<const Run> run, std::shared_ptr<const PeakSeries> series)
{
    m_run = std::move(run);
    m_series = std::move(series);
    rebuildGraphs();
    m_overview.setLine(m_series->overall);
    m_pinned.reset();
    fitValues();
    applyTheme(Theme::current());
    showRange();
    if (const auto peak = m_series->overall.peak())
        pinCursor(m_series->overall.steps[*peak]); // the first question's answer, without a move of the hand
    else if (m_view)
        m_view->setCursor({});
    showCursor(); // at the same step as before it reads other values
}

bool PeaksPlot::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    if (!m_capacityLine.set(capacity, label))
        return false;
    fitValues();
    scheduleReplot();
    return true;
}

void PeaksPlot::setMessage(const QString& message)
{
    m_message->setText(message);
    m_message->setVisible(!message.isEmpty());
    const bool isChart = message.isEmpty();
    for (QCPAxis* axis : {stepAxis(), bytesAxis()})
        axis->setTickLabels(isChart);
    bytesAxis()->grid()->setVisible(isChart);
    m_unit->setVisible(isChart);
    m_overview.setVisible(isChart);
    m_capacityLine.setVisible(isChart);
    scheduleReplot();
}

void PeaksPlot::setPhaseVisible(std::uint8_t phase, bool visible)
{
    if (visible)
        m_hiddenPhases.erase(phase);
    else
        m_hiddenPhases.insert(phase);
    for (std::size_t i = 0; i < m_phaseGraphs.size(); ++i)
        m_phaseGraphs[i]->setVisible(isPhaseVisible(m_series->phases[i].phase));
    fitValues();
    showCursor();
    scheduleReplot();
}

void PeaksPlot::setReservedVisible(bool visible)
{
    m_isReservedVisible = visible;
    if (m_reservedGraph)
        m_reservedGraph->setVisible(visible);
    fitValues();
    showCursor();
    scheduleReplot();
}

void PeaksPlot::pinCursor(std::optional<qint64> step)
{
    m_pinned = step;
    if (!m_view)
        return;
    if (step) {
        const StepRange range = m_view->range();
        const auto at = static_cast<double>(*step);
        if (at < range.first || at > range.last)
            m_view->pan(at - range.centre());
    }
    m_view->setCursor(step);
}

std::optional<qint64> PeaksPlot::recordAt(std::int64_t step) const
{
    std::optional<qint64> record;
    std::int64_t most = -1;
    for (const StepLine* line : visibleLines()) {
        const auto i = line->holdLast(step);
        if (i && line->bytes[*i] > most && line != &m_series->reserved) {
            most = line->bytes[*i];
            record = line->records[*i];
        }
    }
    return record;
}

void PeaksPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, stepAxis(), bytesAxis());
    m_unit->setColor(theme.mutedText);
    m_unit->setFont(smallFont());
    m_message->setColor(theme.mutedText);
    m_message->setFont(font());
    QPen cursorPen(theme.text, 1);
    cursorPen.setDashPattern({2, 3});
    m_cursorLine->setPen(cursorPen);
    m_readout->setFonts(smallFont(), smallBoldFont());
    m_capacityLine.applyTheme(theme);
    m_gestures.applyTheme(theme);
    QColor overviewColor = theme.accent;
    if (m_series && !m_series->phases.empty()) {
        const auto highest = std::max_element(m_series->phases.begin(), m_series->phases.end(),
                                              [](const PhaseLine& a, const PhaseLine& b) {
                                                  return a.line.bytes[*a.line.peak()] < b.line.bytes[*b.line.peak()];
                                              });
        overviewColor = theme.phase(highest->phase);
    }
    m_overview.applyTheme(theme, overviewColor);
    stylePens();
}

void PeaksPlot::rebuildGraphs()
{
    for (QCPGraph* graph : m_phaseGraphs)
        removeGraph(graph);
    m_phaseGraphs.clear();
    if (m_reservedGraph)
        removeGraph(m_reservedGraph);
    m_reservedGraph = nullptr;

    const auto makeGraph = [this](const StepLine& line) {
        QCPGraph* graph = addGraph(stepAxis(), bytesAxis());
        graph->setLineStyle(QCPGraph::lsStepLeft);
        fill(*graph, line);
        return graph;
    };
    if (!m_series->reserved.isEmpty()) {
        m_reservedGraph = makeGraph(m_series->reserved);
        m_reservedGraph->setVisible(m_isReservedVisible);
    }
    for (const PhaseLine& phase : m_series->phases) {
        m_phaseGraphs.push_back(makeGraph(phase.line));
        m_phaseGraphs.back()->setName(QString::fromStdString(phase.name));
        m_phaseGraphs.back()->setVisible(isPhaseVisible(phase.phase));
    }
}

void PeaksPlot::stylePens()
{
    if (!m_series)
        return;
    const Theme& theme = Theme::current();
    const QCPRange range = stepAxis()->range();
    const auto style = [&](QCPGraph& graph, QPen pen) {
        const auto visible = graph.data()->findEnd(range.upper) - graph.data()->findBegin(range.lower);
        pen.setWidthF(visible > wideLinePoints ? 1 : 1.5);
        graph.setPen(pen);
        const bool hasMarkers = static_cast<double>(visible) * pixelsPerMarker < m_rect->width();
        graph.setScatterStyle(hasMarkers ? QCPScatterStyle(QCPScatterStyle::ssDisc, pen.color(), pen.color(), 5)
                                         : QCPScatterStyle::ssNone);
    };
    for (std::size_t i = 0; i < m_phaseGraphs.size(); ++i)
        style(*m_phaseGraphs[i], QPen(theme.phase(m_series->phases[i].phase)));
    if (m_reservedGraph) {
        QPen pen(theme.reserved);
        pen.setDashPattern({3, 2.5});
        pen.setCapStyle(Qt::FlatCap);
        style(*m_reservedGraph, pen);
    }
}

void PeaksPlot::showRange()
{
    if (!m_view)
        return;
    stepAxis()->setRange(m_view->range().first, m_view->range().last);
    scheduleReplot();
}

void PeaksPlot::showCursor()
{
    const std::optional<qint64> step = m_view ? m_view->cursor() : std::nullopt;
    const bool isShown = step && m_series && !m_series->isEmpty() && stepAxis()->range().contains(double(*step));
    m_cursorLine->setVisible(isShown);
    m_readout->setVisible(isShown);
    if (!isShown)
        return;
    const auto at = static_cast<double>(*step);
    m_cursorLine->point1->setCoords(at, 0);
    m_cursorLine->point2->setCoords(at, 1);
    const auto record = recordAt(*step);
    m_readout->setContent(
        record
            ? tr("step %1 · line %2").arg(countText(*step), countText(m_run->line[static_cast<std::size_t>(*record)]))
            : tr("step %1").arg(countText(*step)),
        rowsAt(*step));
    m_readout->setAnchorPixel({stepAxis()->coordToPixel(at), m_rect->top() + m_rect->height() * 0.36});
}

void PeaksPlot::fitValues()
{
    double upper = m_capacityLine.capacity().value_or(Bytes{}).gib();
    if (m_series) {
        for (const StepLine* line : visibleLines())
            upper = std::max(upper, Bytes{line->bytes[*line->peak()]}.gib());
    }
    upper = upper > 0 ? upper * 1.08 : 1;
    bytesAxis()->setRange(0, upper);
    m_unit->setText(QString::fromUtf16(BytesTicker::unitFor(upper).name));
}

void PeaksPlot::hover(QPointF pixel)
{
    if (m_series && !m_series->isEmpty())
        m_view->setCursor(stepAt(pixel.x()));
}

void PeaksPlot::click(QPointF pixel)
{
    if (!m_series || m_series->isEmpty())
        return;
    const std::int64_t step = stepAt(pixel.x());
    pinCursor(step);
    const StepLine* nearest = nullptr;
    double least = clickReach;
    for (const StepLine* line : visibleLines()) {
        const auto i = line->holdLast(step);
        const double distance
            = i ? std::fabs(bytesAxis()->coordToPixel(Bytes{line->bytes[*i]}.gib()) - pixel.y()) : least;
        if (distance < least) {
            least = distance;
            nearest = line;
        }
    }
    if (nearest)
        emit recordActivated(nearest->records[*nearest->holdLast(step)]);
}

std::int64_t PeaksPlot::stepAt(double pixelX) const
{
    // Where several steps share a pixel, the highest of them is meant: no spike hides from the pointer.
    const StepLine& line = m_series->overall;
    const auto first = line.holdLast(static_cast<std::int64_t>(std::floor(stepAxis()->pixelToCoord(pixelX))));
    const auto last = line.holdLast(static_cast<std::int64_t>(std::floor(stepAxis()->pixelToCoord(pixelX + 1) - 1e-9)));
    if (!last || !first)
        return line.steps.front();
    const auto begin = line.bytes.begin();
    const auto highest = std::max_element(begin + static_cast<std::ptrdiff_t>(*first),
                                          begin + static_cast<std::ptrdiff_t>(std::max(*first, *last)) + 1);
    return line.steps[static_cast<std::size_t>(highest - begin)];
}

std::vector<const StepLine*> PeaksPlot::visibleLines() const
{
    std::vector<const StepLine*> lines;
    for (const PhaseLine& phase : m_series->phases) {
        if (isPhaseVisible(phase.phase))
            lines.push_back(&phase.line);
    }
    if (m_isReservedVisible && !m_series->reserved.isEmpty())
        lines.push_back(&m_series->reserved);
    return lines;
}

std::vector<ReadoutItem::Row> PeaksPlot::rowsAt(std::int64_t step) const
{
    const Theme& theme = Theme::current();
    std::vector<std::pair<std::int64_t, ReadoutItem::Row>> phases;
    for (const PhaseLine& phase : m_series->phases) {
        const auto i = phase.line.holdLast(step);
        if (i && isPhaseVisible(phase.phase))
            phases.push_back(
                {phase.line.bytes[*i],
                 {theme.phase(phase.phase), QString::fromStdString(phase.name), bytesText({phase.line.bytes[*i]})}});
    }
    std::stable_sort(phases.begin(), phases.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<ReadoutItem::Row> rows;
    for (auto& [bytes, row] : phases)
        rows.push_back(std::move(row));
    const auto held = m_series->reserved.holdLast(step);
    if (held && m_isReservedVisible)
        rows.push_back({theme.reserved, tr("reserved"), bytesText({m_series->reserved.bytes[*held]})});
    return rows;
}

} // namespace headroom
