// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/timeline_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "charts/stages_plot.h"
#include "theme/theme.h"

#include <algorithm>

namespace headroom {

namespace {

/// A capacity farther above the peak would press the step flat.
constexpr double mostCapacityOverPeak = 1.7;

} // namespace

TimelinePlot::TimelinePlot(ViewState& range, QWidget* parent)
    : PlotCanvas(parent)
    , m_stack(new TimelineStack(this, axisRect()))
    , m_strip(new ScheduleStrip(this, axisRect()))
    , m_capacityLine(*this, *axisRect())
    , m_gestures(*this, *axisRect())
    , m_crosshair(new QCPItemStraightLine(this))
    , m_readout(new ReadoutItem(this))
    , m_unit(makeUnitText(this))
    , m_message(new PlotMessage(this))
{
    bytesAxis()->setTicker(QSharedPointer<BytesTicker>::create());
    workAxis()->setTickLabels(false);
    m_stack->setLayer(QStringLiteral("main"));
    m_crosshair->setLayer(cursorLayer());
    m_crosshair->setSelectable(false);
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_gestures.setViewState(&range);
    connect(&range, &ViewState::rangeChanged, this, [this](StepRange shown) {
        workAxis()->setRange(shown.first, shown.last);
        scheduleReplot();
    });
    connect(this, &QCustomPlot::afterLayout, this, &TimelinePlot::fitCapacityLabel);
    connect(&m_gestures, &RangeGestures::hovered, this, &TimelinePlot::hover);
    connect(&m_gestures, &RangeGestures::left, this, [this] {
        setCursorSpan({});
        emit cursorMoved();
    });
    TimelinePlot::applyTheme(Theme::current());
    fitValues();
    showCursor();
}

void TimelinePlot::setTimeline(Timeline timeline)
{
    m_timeline = std::move(timeline);
    m_stack->setTimeline(m_timeline);
    m_strip->setTimeline(m_timeline);
    if (m_cursor && (!m_timeline || *m_cursor >= m_timeline->spans.size()))
        m_cursor.reset();
    fitValues();
    showCursor();
    scheduleReplot();
}

void TimelinePlot::setFaint(bool faint)
{
    m_stack->setFaint(faint);
    m_strip->setFaint(faint);
    scheduleReplot();
}

void TimelinePlot::setCapacity(std::optional<Bytes> capacity, const QString& label)
{
    if (m_capacityLine.set(capacity, label)) {
        fitValues();
        scheduleReplot();
    }
}

void TimelinePlot::setMessage(const QString& message)
{
    m_message->setMessage(message);
    const bool isChart = message.isEmpty();
    bytesAxis()->setTickLabels(isChart);
    bytesAxis()->grid()->setVisible(isChart);
    m_unit->setVisible(isChart);
    m_stack->setVisible(isChart);
    m_strip->setVisible(isChart);
    fitValues();
    scheduleReplot();
}

void TimelinePlot::setCursorSpan(std::optional<std::size_t> span)
{
    if (span && (!m_timeline || *span >= m_timeline->spans.size()))
        span.reset();
    m_cursor = span;
    showCursor();
    cursorLayer()->replot();
}

void TimelinePlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, workAxis(), bytesAxis());
    m_capacityLine.applyTheme(theme);
    m_strip->setFont(smallFont());
    const int strip = ScheduleStrip::gap + m_strip->height();
    axisRect()->setMinimumMargins(QMargins(30, 16, 4, strip + 2));
    m_gestures.setReachBelow(strip);
    m_gestures.applyTheme(theme);
    m_crosshair->setPen(QPen(theme.mutedText, 1, Qt::DotLine));
    m_readout->setFonts(smallFont(), smallBoldFont());
    m_unit->setColor(theme.mutedText);
    m_unit->setFont(smallFont());
    m_message->setColor(theme.mutedText);
    m_message->setFont(font());
    showCursor();
}

void TimelinePlot::fitValues()
{
    const bool hasSpans = m_timeline && !m_timeline->spans.empty();
    Bytes most = hasSpans ? m_timeline->spans[m_timeline->peak].allocated() : Bytes{};
    const auto capacity = m_capacityLine.capacity();
    m_showsCapacity = capacity && most.value > 0 && !m_message->visible()
        && static_cast<double>(capacity->value) < mostCapacityOverPeak * static_cast<double>(most.value);
    m_capacityLine.setVisible(m_showsCapacity);
    most = m_showsCapacity ? std::max(most, *capacity) : most;
    const double upper = most.value > 0 ? most.gib() * 1.08 : 1;
    bytesAxis()->setRange(0, upper);
    m_unit->setText(QString::fromUtf16(BytesTicker::unitFor(upper).name));
}

/// Above the line it would hide what runs over, which is the point of the chart.
void TimelinePlot::fitCapacityLabel()
{
    bool isFree = true;
    if (const auto capacity = m_capacityLine.capacity(); capacity && m_timeline) {
        const double left = axisRect()->right() - m_capacityLine.labelWidth();
        isFree = std::none_of(m_timeline->spans.begin(), m_timeline->spans.end(), [&](const StepTimeline::Span& span) {
            return span.allocated() > *capacity && workAxis()->coordToPixel(span.end) > left;
        });
    }
    m_capacityLine.setLabelVisible(isFree);
}

void TimelinePlot::hover(QPointF pixel)
{
    m_readout->setAnchorPixel(pixel);
    setCursorSpan(m_timeline ? m_timeline->spanAt(workAxis()->pixelToCoord(pixel.x())) : std::nullopt);
    emit cursorMoved();
}

void TimelinePlot::showCursor()
{
    const bool isShown = m_cursor.has_value() && !m_message->visible();
    m_crosshair->setVisible(isShown);
    m_readout->setVisible(isShown);
    if (!isShown)
        return;
    const StepTimeline::Span& span = m_timeline->spans[*m_cursor];
    const double middle = (span.begin + span.end) / 2;
    m_crosshair->point1->setCoords(middle, 0);
    m_crosshair->point2->setCoords(middle, 1);
    if (!underMouse()) // moved by keys: beside the line, not where the pointer was
        m_readout->setAnchorPixel({workAxis()->coordToPixel(middle), axisRect()->top() + 8.0});
    QString heading = passText(m_timeline->passes[span.pass]);
    if (span.isRebuilding)
        heading = tr("%1, recomputing").arg(heading);
    m_readout->setContent(heading, rowsOf(span));
}

QString TimelinePlot::passText(const StepTimeline::Pass& pass) const
{
    if (pass.phase == Phase::Optimizer)
        return tr("optimizer step");
    const QString number = countText(pass.microBatch + 1);
    const QString text = pass.phase == Phase::Forward ? tr("forward of micro-batch %1").arg(number)
                                                      : tr("backward of micro-batch %1").arg(number);
    if (pass.isEncoder)
        return tr("%1, image encoder").arg(text);
    return m_timeline->chunks > 1 ? tr("%1, chunk %2 of %3").arg(text).arg(pass.chunk + 1).arg(m_timeline->chunks)
                                  : text;
}

std::vector<ReadoutItem::Row> TimelinePlot::rowsOf(const StepTimeline::Span& span) const
{
    std::vector<ReadoutItem::Row> rows;
    for (std::size_t part = std::size_t{componentCount}; part-- > 0;) { // as the eye meets them, from the top
        if (span.components[part].value != 0)
            rows.push_back({stackPartColor(part), stackPartName(part), bytesText(span.components[part])});
    }
    rows.push_back({Theme::current().text, tr("Allocated"), bytesText(span.allocated())});
    return rows;
}

} // namespace headroom
