// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/overview_strip.h"

#include "charts/plot_canvas.h"
#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr int stripHeight = 24;
constexpr std::size_t columns = 2048; // more than a screen is wide
constexpr double edgeReach = 6; // pixels in which an edge is gripped

} // namespace

OverviewStrip::OverviewStrip(PlotCanvas& plot, QCPMarginGroup& margins)
    : QObject(&plot)
    , m_plot(plot)
    , m_rect(new QCPAxisRect(&plot, false))
{
    m_rect->addAxes(QCPAxis::atBottom | QCPAxis::atLeft);
    plot.plotLayout()->addElement(plot.plotLayout()->rowCount(), 0, m_rect);
    m_rect->setAutoMargins(QCP::msLeft | QCP::msRight);
    m_rect->setMarginGroup(QCP::msLeft | QCP::msRight, &margins);
    m_rect->setMargins(QMargins(0, 2, 0, 4));
    m_rect->setMinimumSize(10, stripHeight);
    m_rect->setMaximumSize(QWIDGETSIZE_MAX, stripHeight);
    for (QCPAxis* axis : m_rect->axes()) {
        axis->setTickLabels(false);
        axis->setTicks(false);
        axis->setBasePen(Qt::NoPen);
        axis->grid()->setVisible(false);
    }
    m_graph = plot.addGraph(m_rect->axis(QCPAxis::atBottom), m_rect->axis(QCPAxis::atLeft));
    m_graph->setLineStyle(QCPGraph::lsStepLeft);

    const auto makeRect = [&] {
        auto* item = new QCPItemRect(&plot);
        item->setSelectable(false);
        item->setClipToAxisRect(false);
        for (QCPItemPosition* position : item->positions()) {
            position->setAxes(m_rect->axis(QCPAxis::atBottom), m_rect->axis(QCPAxis::atLeft));
            position->setAxisRect(m_rect);
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        }
        item->topLeft->setCoords(0, 0);
        item->bottomRight->setCoords(1, 1);
        return item;
    };
    m_frame = makeRect();
    m_frame->setLayer(QStringLiteral("grid"));
    m_frame->topLeft->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_frame->bottomRight->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_frame->topLeft->setCoords(0, 0); // changing the type kept the pixels
    m_frame->bottomRight->setCoords(1, 1);
    m_window = makeRect();
    m_window->setLayer(QStringLiteral("grid")); // under the line
    plot.installEventFilter(this);
}

void OverviewStrip::setViewState(ViewState* view)
{
    if (m_view)
        disconnect(m_view, nullptr, this, nullptr);
    m_view = view;
    if (!view)
        return;
    connect(view, &ViewState::boundsChanged, this, &OverviewStrip::showRange);
    connect(view, &ViewState::rangeChanged, this, &OverviewStrip::showRange);
    showRange();
}

void OverviewStrip::setLine(const StepLine& line)
{
    const StepLine few = reduced(line, columns);
    QVector<QCPGraphData> data;
    data.reserve(static_cast<qsizetype>(few.size()));
    for (std::size_t i = 0; i < few.size(); ++i)
        data.append({static_cast<double>(few.steps[i]), Bytes{few.bytes[i]}.gib()});
    m_graph->data()->set(data, true);
    if (few.isEmpty())
        return;
    // The strip shows shape, not size: its own range, never so narrow that noise looks like news.
    const auto [low, high] = std::minmax_element(few.bytes.begin(), few.bytes.end());
    const double top = Bytes{*high}.gib();
    const double bottom = std::min(Bytes{*low}.gib(), top * 0.9);
    const double pad = std::max((top - bottom) * 0.15, 1e-9);
    m_graph->valueAxis()->setRange(bottom - pad, top + pad);
}

void OverviewStrip::setVisible(bool visible)
{
    m_rect->setVisible(visible);
    m_graph->setVisible(visible);
    m_window->setVisible(visible);
    m_frame->setVisible(visible);
}

void OverviewStrip::applyTheme(const Theme& theme, const QColor& lineColor)
{
    m_graph->setPen(QPen(lineColor, 1));
    m_frame->setBrush(Qt::NoBrush);
    m_frame->setPen(QPen(theme.border, 1));
    m_window->setBrush(theme.selection);
    m_window->setPen(QPen(theme.accent, 1));
}

bool OverviewStrip::eventFilter(QObject*, QEvent* event)
{
    if (!m_view)
        return false;
    switch (event->type()) {
    case QEvent::MouseButtonPress: {
        const auto& mouse = static_cast<QMouseEvent&>(*event);
        return mouse.button() == Qt::LeftButton && contains(mouse.position()) && press(mouse.position());
    }
    case QEvent::MouseMove:
        return drag(static_cast<QMouseEvent&>(*event).position());
    case QEvent::MouseButtonRelease: {
        const bool wasDragging = m_drag != Drag::None;
        m_drag = Drag::None;
        return wasDragging;
    }
    case QEvent::MouseButtonDblClick:
        if (!contains(static_cast<QMouseEvent&>(*event).position()))
            return false;
        m_view->fit();
        return true;
    case QEvent::Wheel: {
        const auto& wheel = static_cast<QWheelEvent&>(*event);
        if (!contains(wheel.position()) || wheel.angleDelta().y() == 0)
            return false;
        m_view->zoom(std::pow(0.8, wheel.angleDelta().y() / 120.0), stepAt(wheel.position().x()), m_wheelBurst.next());
        return true;
    }
    default:
        return false;
    }
}

void OverviewStrip::showRange()
{
    m_graph->keyAxis()->setRange(m_view->bounds().first, m_view->bounds().last);
    m_window->topLeft->setCoords(m_view->range().first, 0);
    m_window->bottomRight->setCoords(m_view->range().last, 1);
    m_plot.scheduleReplot();
}

bool OverviewStrip::press(QPointF pixel)
{
    m_plot.parentWidget()->setFocus(Qt::MouseFocusReason);
    m_drag = dragAt(pixel);
    m_isFirstMove = true;
    const StepRange range = m_view->range();
    if (m_drag == Drag::None) { // beside the window: it jumps there and follows
        m_view->pan(stepAt(pixel.x()) - range.centre());
        m_drag = Drag::Window;
        m_isFirstMove = false;
    }
    m_grip = stepAt(pixel.x()) - m_view->range().first;
    return true;
}

bool OverviewStrip::drag(QPointF pixel)
{
    if (m_drag == Drag::None) {
        if (!contains(pixel)) {
            m_plot.unsetCursor();
            return false;
        }
        const Drag possible = dragAt(pixel);
        m_plot.setCursor(possible == Drag::Window     ? Qt::OpenHandCursor
                             : possible == Drag::None ? Qt::PointingHandCursor
                                                      : Qt::SizeHorCursor);
        return false;
    }
    const auto gesture = m_isFirstMove ? ViewState::Gesture::New : ViewState::Gesture::Continued;
    const double step = stepAt(pixel.x());
    const StepRange range = m_view->range();
    m_isFirstMove = false;
    if (m_drag == Drag::Window)
        m_view->setRange({step - m_grip, step - m_grip + range.span()}, gesture);
    else if (m_drag == Drag::FirstEdge)
        m_view->setRange({std::min(step, range.last - ViewState::minimumSpan), range.last}, gesture);
    else
        m_view->setRange({range.first, std::max(step, range.first + ViewState::minimumSpan)}, gesture);
    return true;
}

OverviewStrip::Drag OverviewStrip::dragAt(QPointF pixel) const
{
    const double first = m_graph->keyAxis()->coordToPixel(m_view->range().first);
    const double last = m_graph->keyAxis()->coordToPixel(m_view->range().last);
    const bool firstIsNearer = std::fabs(pixel.x() - first) < std::fabs(pixel.x() - last);
    const double distance = std::fabs(pixel.x() - (firstIsNearer ? first : last));
    // A window of a few pixels must still be movable: its edges are gripped from outside then.
    const double reach = last - first < 3 * edgeReach && pixel.x() > first && pixel.x() < last ? 0 : edgeReach;
    if (distance <= reach)
        return firstIsNearer ? Drag::FirstEdge : Drag::LastEdge;
    return pixel.x() > first && pixel.x() < last ? Drag::Window : Drag::None;
}

bool OverviewStrip::contains(QPointF pixel) const
{
    return m_rect->visible() && QRectF(m_rect->rect()).adjusted(-edgeReach, -2, edgeReach, 2).contains(pixel);
}

double OverviewStrip::stepAt(double pixelX) const
{
    return m_graph->keyAxis()->pixelToCoord(pixelX);
}

} // namespace headroom
