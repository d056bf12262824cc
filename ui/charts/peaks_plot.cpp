// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peaks_plot.h"

#include "charts/bytes_ticker.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double pixelsPerMarker = 16; // markers only where points are at least so far apart
constexpr qsizetype wideLinePoints = 3000; // above, lines are hair lines: wide ones cost ten times as much
constexpr double fewOctaves = 8; // below this ratio of the axis's ends linear ticks divide it better

void fill(QCPGraph& graph, const StepLine& line)
{
    QVector<QCPGraphData> points(static_cast<qsizetype>(line.size()));
    for (std::size_t i = 0; i < line.size(); ++i)
        points[static_cast<qsizetype>(i)] = {static_cast<double>(line.steps[i]), Bytes{line.bytes[i]}.gib()};
    graph.data()->set(points, true);
}

/// Kin of a phase's colour, apart from each other as far as kin can be.
QColor variant(const QColor& color, std::size_t number)
{
    const double turn = std::fmod(static_cast<double>(number + 1) * 0.618034, 1.0) - 0.5;
    const double shade = std::fmod(static_cast<double>(number + 1) * 0.381966, 1.0) - 0.5;
    return QColor::fromHslF(static_cast<float>(std::fmod(color.hslHueF() + turn * 0.16 + 1, 1.0)),
                            static_cast<float>(color.hslSaturationF() * 0.8),
                            static_cast<float>(std::clamp(color.lightnessF() + shade * 0.3, 0.25, 0.8)));
}

} // namespace

PeaksPlot::PeaksPlot(QWidget* parent)
    : PlotCanvas(parent)
    , m_rect(axisRect())
    , m_margins(this)
    , m_overview(*this, m_margins)
    , m_strips(*this, m_margins, 1)
    , m_gestures(*this, *m_rect)
    , m_capacityLine(*this, *m_rect)
    , m_markers(*this, *m_rect)
    , m_unit(makeUnitText(this))
    , m_message(new PlotMessage(this))
    , m_cursorLine(new QCPItemStraightLine(this))
    , m_readout(new ReadoutItem(this))
{
    plotLayout()->setRowSpacing(2);
    m_rect->setMarginGroup(QCP::msLeft | QCP::msRight, &m_margins);
    m_rect->setMinimumMargins(QMargins(30, 16, 14, 0));
    stepAxis()->setTicker(QSharedPointer<StepTicker>::create());
    setUpItems();
    showScale();

    connect(&m_gestures, &RangeGestures::hovered, this, &PeaksPlot::hover);
    connect(&m_gestures, &RangeGestures::clicked, this, &PeaksPlot::click);
    connect(&m_gestures, &RangeGestures::left, this, [this] {
        if (m_view)
            m_view->setCursor(m_pinned);
    });
    // Markers and boxes depend on pixels, which the layout of a replot decides.
    connect(this, &QCustomPlot::afterLayout, this, [this] {
        m_gestures.setReachBelow(m_strips.stripCount() > 0 ? m_strips.area().bottom() - m_rect->bottom() : 0);
        stylePens();
        showCursor();
        showMarkers();
    });
    PeaksPlot::applyTheme(Theme::current());
}

void PeaksPlot::setUpItems()
{

    m_cursorLine->setSelectable(false);
    m_cursorLine->setClipAxisRect(m_rect);
    m_cursorLine->setLayer(cursorLayer());
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(m_rect);
    m_readout->setClipToAxisRect(false);
    for (QCPItemPosition* position : m_cursorLine->positions())
        position->setAxes(stepAxis(), bytesAxis());
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
    connect(view, &ViewState::channelsChanged, this, &PeaksPlot::showChannels);
    connect(view, &ViewState::switched, this, &PeaksPlot::switchOver);
    connect(view, &ViewState::cursorChanged, this, [this] {
        showCursor();
        cursorLayer()->replot();
    });
    connect(view, &ViewState::markersChanged, this, [this] {
        showMarkers();
        cursorLayer()->replot();
    });
    showScale();
    showStrips();
    showRange();
}

void PeaksPlot::switchOver(ViewState::Switch which)
{
    if (which == ViewState::Switch::LogScale)
        showScale();
    else if (which == ViewState::Switch::Metrics)
        showStrips();
}

void PeaksPlot::setSeries(std::shared_ptr<const Run> run, std::shared_ptr<const PeakSeries> series)
{
    // One more line of the same log, or what was added to it, leave the cursor where it was put.
    const bool isSameLog = m_run && run
        && (run == m_run || (!run->files.empty() && run->files == m_run->files && run->size() > m_run->size()));
    const bool isSameRank = m_series && m_series->rank == series->rank;
    m_run = std::move(run);
    m_series = std::move(series);
    rebuildGraphs();
    m_overview.setLine(m_series->overall);
    fitValues();
    applyTheme(Theme::current());
    showStrips();
    showRange();
    if (!isSameLog || !isSameRank) {
        m_pinned.reset();
        if (const auto peak = m_series->overall.peak())
            pinCursor(m_series->overall.steps[*peak]); // the first question's answer, without a move of the hand
        else if (m_view)
            m_view->setCursor({});
    }
    showCursor(); // at the same step as before it reads other values
    showMarkers();
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
    m_message->setMessage(message);
    const bool isChart = message.isEmpty();
    for (QCPAxis* axis : {stepAxis(), bytesAxis()})
        axis->setTickLabels(isChart);
    bytesAxis()->grid()->setVisible(isChart);
    m_unit->setVisible(isChart);
    m_overview.setVisible(isChart);
    m_capacityLine.setVisible(isChart);
    scheduleReplot();
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
    m_markers.applyTheme(theme);
    m_strips.applyTheme(theme);
    QColor overviewColor = theme.accent;
    if (m_series && !m_series->phases.empty()) {
        const auto highest = std::max_element(m_series->phases.begin(), m_series->phases.end(),
                                              [](const PhaseLine& a, const PhaseLine& b) {
                                                  return a.line.bytes[*a.line.peak()] < b.line.bytes[*b.line.peak()];
                                              });
        overviewColor = theme.phase(highest->phase);
    }
    m_overview.applyTheme(theme, overviewColor);
    colourLines(theme);
    stylePens();
}

void PeaksPlot::addLine(const Channel& channel, std::optional<std::uint8_t> phase, const QString& name,
                        const StepLine& line)
{
    QCPGraph* graph = addGraph(stepAxis(), bytesAxis());
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setName(name);
    fill(*graph, line);
    m_drawn.push_back({channel, phase, name, &line, graph, {}});
    graph->setVisible(isShown(m_drawn.back()));
}

void PeaksPlot::rebuildGraphs()
{
    for (const Drawn& drawn : m_drawn)
        removeGraph(drawn.graph);
    m_drawn.clear();
    // Drawn in this order: what the user added under the phases.
    for (const ChannelLine& added : m_series->added) {
        QStringList words;
        if (added.phase)
            words.append(QString::fromStdString(added.channel.phase));
        if (!added.phase || added.channel.isReserved)
            words.append(added.channel.isReserved ? tr("reserved") : tr("allocated"));
        QString name = words.join(u' ');
        if (added.channel.rank >= 0)
            name += u" · "_qs + tr("rank %1").arg(added.channel.rank);
        addLine(added.channel, added.phase, name, added.line);
    }
    if (!m_series->reserved.isEmpty())
        addLine({{}, Channel::overRanks, true}, {}, tr("reserved"), m_series->reserved);
    for (const PhaseLine& phase : m_series->phases)
        addLine({phase.name, Channel::overRanks, false}, phase.phase, QString::fromStdString(phase.name), phase.line);
    std::reverse(m_drawn.begin(), m_drawn.end());
    std::reverse(m_drawn.begin(), m_drawn.begin() + static_cast<std::ptrdiff_t>(m_series->phases.size()));
    std::reverse(m_drawn.end() - static_cast<std::ptrdiff_t>(m_series->added.size()), m_drawn.end());
}

void PeaksPlot::colourLines(const Theme& theme)
{
    std::size_t number = 0;
    for (Drawn& drawn : m_drawn) {
        const QColor base = drawn.phase ? theme.phase(*drawn.phase)
            : drawn.channel.isReserved  ? theme.reserved
                                        : theme.text;
        drawn.color = drawn.channel.isShownAtFirst() ? base : variant(base, number++);
    }
}

void PeaksPlot::stylePens()
{
    const QCPRange range = stepAxis()->range();
    for (const Drawn& drawn : m_drawn) {
        QPen pen(drawn.color);
        if (drawn.channel.isReserved) {
            pen.setDashPattern({3, 2.5});
            pen.setCapStyle(Qt::FlatCap);
        }
        const auto visible = drawn.graph->data()->findEnd(range.upper) - drawn.graph->data()->findBegin(range.lower);
        pen.setWidthF(visible > wideLinePoints || !drawn.channel.isShownAtFirst() ? 1 : 1.5);
        drawn.graph->setPen(pen);
        const bool hasMarkers = static_cast<double>(visible) * pixelsPerMarker < m_rect->width();
        drawn.graph->setScatterStyle(hasMarkers ? QCPScatterStyle(QCPScatterStyle::ssDisc, pen.color(), pen.color(), 5)
                                                : QCPScatterStyle::ssNone);
    }
}

void PeaksPlot::showRange()
{
    if (!m_view)
        return;
    stepAxis()->setRange(m_view->range().first, m_view->range().last);
    m_strips.setRange(stepAxis()->range());
    scheduleReplot();
}

void PeaksPlot::showChannels()
{
    for (const Drawn& drawn : m_drawn)
        drawn.graph->setVisible(isShown(drawn));
    fitValues();
    showCursor();
    showMarkers();
    scheduleReplot();
}

void PeaksPlot::showStrips()
{
    const bool isOn = m_series && m_view && m_view->isOn(ViewState::Switch::Metrics);
    std::vector<MetricLine> lines = isOn ? m_series->metrics : std::vector<MetricLine>();
    if (m_series) // chosen one by one, whether the others are shown or not
        lines.insert(lines.end(), m_series->timers.begin(), m_series->timers.end());
    m_strips.setLines(lines);
    m_strips.setRange(stepAxis()->range());
    scheduleReplot();
}

void PeaksPlot::showScale()
{
    const bool isLog = m_view && m_view->isOn(ViewState::Switch::LogScale);
    bytesAxis()->setScaleType(isLog ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    fitValues();
    scheduleReplot();
}

void PeaksPlot::fitValues()
{
    const bool isLog = bytesAxis()->scaleType() == QCPAxis::stLogarithmic;
    double upper = m_capacityLine.capacity().value_or(Bytes{}).gib();
    double lower = upper;
    for (const Drawn& drawn : m_drawn) {
        if (!isShown(drawn))
            continue;
        const auto [least, most] = std::minmax_element(drawn.line->bytes.begin(), drawn.line->bytes.end());
        upper = std::max(upper, Bytes{*most}.gib());
        if (isLog && *least > 0)
            lower = lower > 0 ? std::min(lower, Bytes{*least}.gib()) : Bytes{*least}.gib();
    }
    upper = upper > 0 ? upper * 1.08 : 1;
    // A logarithmic axis has no zero: it begins a little below the least value.
    lower = isLog ? std::min(lower > 0 ? lower / 1.15 : upper, upper / 2) : 0;
    bytesAxis()->setRange(lower, upper);
    if (isLog && upper / lower >= fewOctaves)
        bytesAxis()->setTicker(QSharedPointer<LogBytesTicker>::create());
    else
        bytesAxis()->setTicker(QSharedPointer<BytesTicker>::create());
    fitTickCount(*bytesAxis());
    m_unit->setText(QString::fromUtf16(BytesTicker::unitFor(upper).name));
}

void PeaksPlot::resizeEvent(QResizeEvent* event)
{
    PlotCanvas::resizeEvent(event);
    fitTickCount(*bytesAxis());
}

} // namespace headroom
