// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/range_gestures.h"

#include "charts/plot_canvas.h"
#include "theme/theme.h"

#include <QApplication>

#include <cmath>

namespace headroom {

namespace {

constexpr double zoomPerNotch = 0.8; // 120 units of angle are one notch
constexpr qint64 burstMilliseconds = 500;

} // namespace

ViewState::Gesture RangeGestures::Burst::next()
{
    const bool isContinued = m_last.isValid() && m_last.elapsed() < burstMilliseconds;
    m_last.start();
    return isContinued ? ViewState::Gesture::Continued : ViewState::Gesture::New;
}

RangeGestures::RangeGestures(PlotCanvas& plot, QCPAxisRect& rect)
    : QObject(&plot)
    , m_plot(plot)
    , m_rect(rect)
    , m_band(new QCPItemRect(&plot))
{
    m_band->setLayer(plot.cursorLayer());
    m_band->setClipAxisRect(&rect);
    m_band->setSelectable(false);
    m_band->setVisible(false);
    for (QCPItemPosition* position : m_band->positions()) {
        position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
        position->setAxisRect(&rect);
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    plot.installEventFilter(this);
}

void RangeGestures::applyTheme(const Theme& theme)
{
    QColor fill = theme.accent;
    fill.setAlphaF(0.15F);
    m_band->setBrush(fill);
    m_band->setPen(QPen(theme.accent, 1));
}

bool RangeGestures::eventFilter(QObject*, QEvent* event)
{
    if (!m_view)
        return false;
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        return press(static_cast<QMouseEvent&>(*event));
    case QEvent::MouseMove:
        return move(static_cast<QMouseEvent&>(*event));
    case QEvent::MouseButtonRelease:
        return release(static_cast<QMouseEvent&>(*event));
    case QEvent::MouseButtonDblClick:
        if (!contains(static_cast<QMouseEvent&>(*event).position()))
            return false;
        m_view->fit();
        return true;
    case QEvent::Wheel:
        return wheel(static_cast<QWheelEvent&>(*event));
    case QEvent::Leave:
        emit left();
        return false;
    default:
        return false;
    }
}

bool RangeGestures::press(const QMouseEvent& event)
{
    if (m_drag != Drag::None) { // another button while dragging: give up
        abandon();
        return true;
    }
    if (event.button() != Qt::LeftButton || !contains(event.position()))
        return false;
    m_plot.parentWidget()->setFocus(Qt::MouseFocusReason);
    m_drag = Drag::Undecided;
    m_isBandDrag = event.modifiers().testFlag(Qt::ShiftModifier);
    m_pressed = event.position();
    m_pressedRange = m_view->range();
    return true;
}

bool RangeGestures::move(const QMouseEvent& event)
{
    const QPointF position = event.position();
    if (m_drag == Drag::None) {
        if (event.buttons() == Qt::NoButton) {
            if (contains(position))
                emit hovered(position);
            else
                emit left();
        }
        return false;
    }
    auto gesture = ViewState::Gesture::Continued;
    if (m_drag == Drag::Undecided) {
        if (std::fabs(position.x() - m_pressed.x()) < QApplication::startDragDistance())
            return true;
        m_drag = m_isBandDrag ? Drag::Band : Drag::Pan;
        gesture = ViewState::Gesture::New;
    }
    if (m_drag == Drag::Pan) {
        const double steps = (m_pressed.x() - position.x()) * m_pressedRange.span() / m_rect.width();
        m_view->setRange({m_pressedRange.first + steps, m_pressedRange.last + steps}, gesture);
    } else {
        m_band->topLeft->setCoords(stepAt(m_pressed.x()), 0);
        m_band->bottomRight->setCoords(stepAt(position.x()), 1);
        m_band->setVisible(true);
        m_plot.cursorLayer()->replot();
    }
    return true;
}

bool RangeGestures::release(const QMouseEvent& event)
{
    if (m_drag == Drag::None || event.button() != Qt::LeftButton)
        return false;
    const Drag finished = m_drag;
    abandon();
    if (finished == Drag::Undecided)
        emit clicked(event.position());
    else if (finished == Drag::Band)
        m_view->setRange({stepAt(m_pressed.x()), stepAt(event.position().x())});
    return true;
}

bool RangeGestures::wheel(const QWheelEvent& event)
{
    if (!contains(event.position()))
        return false;
    const QPoint turned = event.angleDelta();
    if (std::abs(turned.x()) > std::abs(turned.y()))
        m_view->pan(-turned.x() / 120.0 * m_view->range().span() / 10, m_wheelBurst.next());
    else if (turned.y() != 0)
        m_view->zoom(std::pow(zoomPerNotch, turned.y() / 120.0), stepAt(event.position().x()), m_wheelBurst.next());
    return true;
}

void RangeGestures::abandon()
{
    m_drag = Drag::None;
    if (m_band->visible()) {
        m_band->setVisible(false);
        m_plot.cursorLayer()->replot();
    }
}

bool RangeGestures::contains(QPointF pixel) const
{
    return m_rect.visible() && QRectF(m_rect.rect()).adjusted(0, 0, 0, m_reachBelow).contains(pixel);
}

double RangeGestures::stepAt(double pixelX) const
{
    return m_rect.axis(QCPAxis::atBottom)->pixelToCoord(pixelX);
}

} // namespace headroom
