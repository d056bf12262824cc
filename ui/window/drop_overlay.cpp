// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/drop_overlay.h"

#include "theme/theme.h"

#include <QPainter>

namespace headroom {

DropOverlay::DropOverlay(QWidget* parent)
    : QWidget(parent)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void DropOverlay::setActive(bool active)
{
    if (active) {
        setGeometry(parentWidget()->rect());
        raise();
    }
    setVisible(active);
}

void DropOverlay::paintEvent(QPaintEvent* /*event*/)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = theme.window;
    veil.setAlphaF(0.82F);
    painter.fillRect(rect(), veil);
    constexpr double margin = 16;
    painter.setPen(QPen(theme.accent, 2, Qt::DashLine));
    painter.drawRoundedRect(QRectF(rect()).adjusted(margin, margin, -margin, -margin), 10, 10);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    painter.setFont(large);
    painter.setPen(theme.text);
    painter.drawText(rect(), Qt::AlignCenter, tr("Drop to open"));
}

} // namespace headroom
