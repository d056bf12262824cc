// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/overlay_plot.h"

#include "charts/bytes_ticker.h"
#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr int wholePlot = 1 << 16; ///< pixels
constexpr double air = 1.08; ///< above the highest value, for its mark
constexpr double paleness = 0.55; ///< of an earlier run's colour

QColor mixed(const QColor& color, const QColor& with, double share)
{
    const auto part = [share](int a, int b) { return static_cast<int>(std::lround(a + share * (b - a))); };
    return {part(color.red(), with.red()), part(color.green(), with.green()), part(color.blue(), with.blue())};
}

} // namespace

OverlayPlot::OverlayPlot(ViewState& range, QWidget* parent)
    : PlotCanvas(parent)
    , m_range(range)
    , m_runTicker(QSharedPointer<QCPAxisTickerText>::create())
    , m_crosshair(new QCPItemStraightLine(this))
    , m_reference(new QCPItemStraightLine(this))
    , m_capacity(*this, *axisRect())
    , m_unit(makeUnitText(this))
    , m_message(new PlotMessage(this))
    , m_gestures(*this, *axisRect())
    , m_readout(new ReadoutItem(this))
{
    axisRect()->setMinimumMargins(QMargins(30, 16, 8, 0));
    for (QCPItemStraightLine* line : {m_crosshair, m_reference}) {
        line->setSelectable(false);
        line->setVisible(false);
    }
    m_crosshair->setLayer(cursorLayer());
    m_readout->setLayer(cursorLayer());
    m_readout->setClipAxisRect(axisRect());
    m_gestures.setViewState(&range);
    m_gestures.setReachBelow(wholePlot);
    connect(&range, &ViewState::rangeChanged, this, &OverlayPlot::showRange);
    connect(this, &QCustomPlot::beforeReplot, this, &OverlayPlot::fitTicks);
    connect(&m_gestures, &RangeGestures::hovered, this, &OverlayPlot::hover);
    connect(&m_gestures, &RangeGestures::left, this, [this] {
        setCursor({});
        emit cursorMoved();
    });
    OverlayPlot::applyTheme(Theme::current());
    showCursor();
}

void OverlayPlot::setData(Overlay overlay)
{
    m_data = std::move(overlay);
    m_cursor.reset();
    fill();
    OverlayPlot::applyTheme(Theme::current());
    showRange();
    showCursor();
}

void OverlayPlot::fill()
{
    for (QCPGraph* graph : m_graphs)
        removeGraph(graph);
    m_graphs.clear();
    const bool isOverRuns = m_data && m_data->isOverRuns();
    const bool isBytes = !m_data || m_data->isBytes();
    keyAxis()->setTicker(isOverRuns ? QSharedPointer<QCPAxisTicker>(m_runTicker)
                                    : QSharedPointer<QCPAxisTicker>(QSharedPointer<StepTicker>::create()));
    valueAxis()->setTicker(isBytes ? QSharedPointer<QCPAxisTicker>(QSharedPointer<BytesTicker>::create())
                                   : QSharedPointer<QCPAxisTicker>::create());
    m_capacity.set(m_data ? m_data->capacity : std::nullopt, m_data ? m_data->capacityLabel : QString());
    m_reference->setVisible(isOverRuns && m_data->reference);
    if (!m_data)
        return;
    if (m_data->reference) {
        m_reference->point1->setCoords(static_cast<double>(*m_data->reference), 0);
        m_reference->point2->setCoords(static_cast<double>(*m_data->reference), 1);
    }
    for (const OverlayLine& line : m_data->lines) {
        QCPGraph* graph = addGraph();
        graph->setSelectable(QCP::stNone);
        graph->setLineStyle(isOverRuns ? QCPGraph::lsLine : QCPGraph::lsStepLeft);
        graph->setData(QVector<double>(line.keys.begin(), line.keys.end()),
                       QVector<double>(line.values.begin(), line.values.end()), true);
        m_graphs.push_back(graph);
    }
    m_message->setMessage(m_data->lines.empty() ? tr("Neither run tells about it") : QString());
}

QColor OverlayPlot::colorOf(const OverlayLine& line) const
{
    const Theme& theme = Theme::current();
    QColor color = theme.accent;
    switch (line.hue) {
    case OverlayLine::Hue::Phase:
        color = theme.phase(line.phase);
        break;
    case OverlayLine::Hue::Reserved:
        color = theme.reserved;
        break;
    case OverlayLine::Hue::Device:
        color = theme.text;
        break;
    case OverlayLine::Hue::Figure:
        break;
    }
    return line.isEarlier ? mixed(color, theme.window, paleness) : color;
}

void OverlayPlot::applyTheme(const Theme& theme)
{
    PlotCanvas::applyTheme(theme);
    styleAxes(theme, keyAxis(), valueAxis());
    constexpr std::array shapes{QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare, QCPScatterStyle::ssDiamond};
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const OverlayLine& line = m_data->lines[i];
        m_graphs[i]->setPen(QPen(colorOf(line), line.isEarlier ? 1 : 1.6));
        if (m_data->isOverRuns())
            m_graphs[i]->setScatterStyle({shapes[i % shapes.size()], colorOf(line), colorOf(line), 7});
    }
    m_crosshair->setPen(QPen(theme.mutedText, 1, Qt::DotLine));
    m_reference->setPen(QPen(theme.accent, 1, Qt::DashLine));
    m_capacity.applyTheme(theme);
    m_gestures.applyTheme(theme);
    m_readout->setFonts(smallFont(), smallBoldFont());
    m_unit->setColor(theme.mutedText);
    m_unit->setFont(smallFont());
    m_message->setColor(theme.mutedText);
    m_message->setFont(font());
    showCursor();
}

void OverlayPlot::resizeEvent(QResizeEvent* event)
{
    PlotCanvas::resizeEvent(event);
    fitTicks();
}

/// Names of runs as far as they have room, numbers where they have none.
void OverlayPlot::fitTicks()
{
    fitTickCount(*valueAxis());
    if (!m_data || !m_data->isOverRuns())
        return;
    const QFontMetricsF metrics(smallFont());
    const double each = std::max(axisRect()->width(), 10) / std::max(keyAxis()->range().size(), 1.0) - 10;
    const double needed = metrics.horizontalAdvance(QStringLiteral("88")) + 8;
    const auto stride = static_cast<std::size_t>(std::max(1.0, std::ceil(needed / std::max(each + 10, 1.0))));
    m_runTicker->clear();
    for (std::size_t i = 0; i < m_data->runNames.size(); i += stride) {
        const QString number = QString::number(i + 1);
        const QString name = metrics.elidedText(m_data->runNames[i], Qt::ElideMiddle, each);
        m_runTicker->addTick(static_cast<double>(i), each < 6 * metrics.averageCharWidth() ? number : name);
    }
}

void OverlayPlot::showRange()
{
    const StepRange shown = m_range.range();
    keyAxis()->setRange(shown.first, shown.last);
    double most = m_data && m_data->capacity && m_data->isBytes() ? m_data->capacity->gib() : 0;
    for (QCPGraph* graph : m_graphs) {
        bool isFound = false;
        const QCPRange values = graph->getValueRange(isFound, QCP::sdBoth, keyAxis()->range());
        most = isFound ? std::max(most, values.upper) : most;
    }
    const double upper = most > 0 ? most * air : 1;
    valueAxis()->setRange(0, upper);
    m_unit->setText(!m_data || m_data->isBytes() ? QString::fromUtf16(BytesTicker::unitFor(upper).name) : m_data->unit);
    scheduleReplot();
}

std::optional<double> OverlayPlot::valueAt(const OverlayLine& line, double key, bool isOverRuns)
{
    const auto after = std::upper_bound(line.keys.begin(), line.keys.end(), key);
    if (after == line.keys.begin())
        return std::nullopt;
    const auto at = static_cast<std::size_t>(after - line.keys.begin()) - 1;
    // A log's value holds until its next line, but not beyond its last; a run's is its own alone.
    if (line.keys[at] < key && (isOverRuns || after == line.keys.end()))
        return std::nullopt;
    return line.values[at];
}

QString OverlayPlot::valueText(double value) const
{
    if (m_data && !m_data->isBytes())
        return QStringLiteral("%1 %2").arg(QLocale().toString(value, 'g', 4), m_data->unit);
    return bytesText(Bytes{std::llround(value * static_cast<double>(gib(1).value))});
}

QString OverlayPlot::keyText(double key) const
{
    const auto place = static_cast<std::size_t>(std::max(key, 0.0));
    if (m_data && m_data->isOverRuns())
        return place < m_data->runNames.size() ? QStringLiteral("%1 · %2").arg(place + 1).arg(m_data->runNames[place])
                                               : QString();
    return tr("step %1").arg(countText(static_cast<qint64>(key)));
}

void OverlayPlot::hover(QPointF pixel)
{
    if (!m_data || m_data->lines.empty())
        return;
    double key = std::round(keyAxis()->pixelToCoord(pixel.x()));
    if (m_data->isOverRuns())
        key = std::clamp(key, 0.0, static_cast<double>(m_data->runNames.size() - 1));
    m_readout->setAnchorPixel(pixel);
    setCursor(key);
    emit cursorMoved();
}

void OverlayPlot::setCursor(std::optional<double> key)
{
    m_cursor = m_data ? key : std::nullopt;
    showCursor();
    cursorLayer()->replot();
}

void OverlayPlot::showCursor()
{
    std::vector<ReadoutItem::Row> rows;
    if (m_cursor && m_data) {
        for (const OverlayLine& line : m_data->lines) {
            if (const auto value = valueAt(line, *m_cursor, m_data->isOverRuns())) {
                const QString name = line.run.isEmpty() ? line.name : line.run + u" · " + line.name;
                rows.push_back({colorOf(line), name, valueText(*value)});
            }
        }
    }
    m_readout->setVisible(!rows.empty());
    m_crosshair->setVisible(!rows.empty());
    if (rows.empty())
        return;
    m_crosshair->point1->setCoords(*m_cursor, 0);
    m_crosshair->point2->setCoords(*m_cursor, 1);
    if (!underMouse()) // moved by keys: beside the line, not where the pointer was
        m_readout->setAnchorPixel({keyAxis()->coordToPixel(*m_cursor), axisRect()->top() + 8.0});
    m_readout->setContent(keyText(*m_cursor), std::move(rows));
}

} // namespace headroom
