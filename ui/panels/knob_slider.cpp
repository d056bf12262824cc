// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/knob_slider.h"

#include "theme/theme.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr int mostTicks = 20; ///< more would be a grey bar

} // namespace

KnobSlider::KnobSlider(QWidget* parent)
    : QSlider(Qt::Horizontal, parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setSingleStep(1);
    setMouseTracking(true);
}

void KnobSlider::setOriginalStop(int stop)
{
    if (m_original != stop) {
        m_original = stop;
        update();
    }
}

QSize KnobSlider::sizeHint() const
{
    const int line = fontMetrics().height();
    return {line * 12, line + line / 3};
}

QSize KnobSlider::minimumSizeHint() const
{
    return {fontMetrics().height() * 5, sizeHint().height()};
}

double KnobSlider::radius() const
{
    return std::max(5.0, fontMetrics().height() * 0.40);
}

double KnobSlider::grooveLength() const
{
    return std::max(1.0, width() - leftInset - radius() - 1);
}

double KnobSlider::positionOf(int stop) const
{
    const int span = std::max(1, maximum() - minimum());
    return leftInset + grooveLength() * (stop - minimum()) / span;
}

int KnobSlider::stopAt(double x) const
{
    const double share = (x - leftInset) / grooveLength();
    return std::clamp(static_cast<int>(std::lround(minimum() + share * (maximum() - minimum()))), minimum(), maximum());
}

void KnobSlider::paintEvent(QPaintEvent* /*event*/)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = radius() + 2.5;
    const double handle = positionOf(sliderPosition());
    const double begin = positionOf(minimum());
    const double end = positionOf(maximum());
    const QColor accent = isEnabled() ? theme.accent : theme.border;

    constexpr double groove = 3;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.border);
    painter.drawRoundedRect(QRectF(begin, middle - groove / 2, end - begin, groove), groove / 2, groove / 2);
    painter.setBrush(accent);
    painter.drawRoundedRect(QRectF(begin, middle - groove / 2, handle - begin, groove), groove / 2, groove / 2);

    const int stops = maximum() - minimum();
    if (stops > 0 && stops < mostTicks) {
        painter.setPen(QPen(theme.mutedText, 1));
        for (int stop = minimum(); stop <= maximum(); ++stop) {
            const double x = std::round(positionOf(stop)) + 0.5;
            painter.drawLine(QPointF(x, middle + radius() + 1), QPointF(x, middle + radius() + 3));
        }
    }
    if (m_original >= minimum() && m_original <= maximum() && m_original != sliderPosition()) {
        painter.setPen(QPen(theme.mutedText, 1.5));
        painter.setBrush(theme.window);
        painter.drawEllipse(QPointF(positionOf(m_original), middle), radius() * 0.65, radius() * 0.65);
    }
    painter.setPen(QPen(accent, 2));
    painter.setBrush(hasFocus() ? theme.accent : (underMouse() && isEnabled() ? theme.selection : theme.window));
    painter.drawEllipse(QPointF(handle, middle), radius() - 0.5, radius() - 0.5);
}

void KnobSlider::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton) {
        event->ignore();
        return;
    }
    setSliderDown(true);
    // On the handle itself nothing moves until the pointer does.
    if (std::abs(event->position().x() - positionOf(value())) > radius()) {
        setValue(stopAt(event->position().x()));
    }
}

void KnobSlider::mouseMoveEvent(QMouseEvent* event)
{
    if (isSliderDown()) {
        setValue(stopAt(event->position().x()));
    }
}

void KnobSlider::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && isSliderDown()) {
        setSliderDown(false);
        emit gestureEnded();
    }
}

void KnobSlider::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        emit resetRequested();
    }
}

void KnobSlider::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Backspace || event->key() == Qt::Key_Delete) {
        emit resetRequested();
        return;
    }
    QSlider::keyPressEvent(event);
}

void KnobSlider::keyReleaseEvent(QKeyEvent* event)
{
    QSlider::keyReleaseEvent(event);
    if (!event->isAutoRepeat()) {
        emit gestureEnded();
    }
}

void KnobSlider::wheelEvent(QWheelEvent* event)
{
    // Scrolling the panel past a knob must not turn it.
    if (hasFocus()) {
        QSlider::wheelEvent(event);
    } else {
        event->ignore();
    }
}

void KnobSlider::focusOutEvent(QFocusEvent* event)
{
    QSlider::focusOutEvent(event);
    emit gestureEnded();
}

} // namespace headroom
