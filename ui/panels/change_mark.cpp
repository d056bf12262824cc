// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/change_mark.h"

#include "panels/knob_slider.h"
#include "theme/theme.h"

#include <QPainter>

namespace headroom {

ChangeMark::ChangeMark(QWidget* parent)
    : QWidget(parent)
{
    setFixedWidth(KnobSlider::leftInset);
}

void ChangeMark::setOn(bool on)
{
    m_isOn = on;
    update();
}

void ChangeMark::paintEvent(QPaintEvent* /*event*/)
{
    if (m_isOn) {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(Qt::NoPen);
        painter.setBrush(Theme::current().accent);
        painter.drawEllipse(QPointF(4, height() / 2.0), 3, 3);
    }
}

} // namespace headroom
