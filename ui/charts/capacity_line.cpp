// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/capacity_line.h"

#include "charts/gib_text.h"
#include "charts/plot_canvas.h"
#include "theme/theme.h"

#include <QCoreApplication>
#include <QFontMetricsF>

namespace headroom {

CapacityLine::CapacityLine(PlotCanvas& plot, QCPAxisRect& rect)
    : m_plot(plot)
    , m_label(new QCPItemText(&plot))
    , m_line(new QCPItemStraightLine(&plot))
{
    for (QCPAbstractItem* item : {static_cast<QCPAbstractItem*>(m_label), static_cast<QCPAbstractItem*>(m_line)}) {
        item->setSelectable(false);
        item->setVisible(false);
        item->setClipAxisRect(&rect);
        item->setLayer(QStringLiteral("axes")); // above the data
        for (QCPItemPosition* position : item->positions()) {
            position->setAxes(rect.axis(QCPAxis::atBottom), rect.axis(QCPAxis::atLeft));
            position->setAxisRect(&rect);
        }
    }
    m_label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_label->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    m_label->setPadding(QMargins(3, 0, 3, 2));
    m_label->setClipToAxisRect(false);
}

bool CapacityLine::set(std::optional<Bytes> capacity, const QString& label)
{
    if (capacity == m_capacity && label == m_wantedLabel)
        return false;
    m_capacity = capacity;
    m_wantedLabel = label;
    setVisible(m_isVisible);
    if (!capacity)
        return true;
    m_line->point1->setCoords(0, capacity->gib());
    m_line->point2->setCoords(1, capacity->gib());
    m_label->position->setCoords(1, capacity->gib());
    m_label->setText(
        label.isEmpty()
            ? QCoreApplication::translate("headroom::CapacityLine", "capacity %1").arg(bytesText(*capacity, 1))
            : label);
    return true;
}

void CapacityLine::setVisible(bool visible)
{
    m_isVisible = visible;
    m_line->setVisible(visible && m_capacity);
    m_label->setVisible(visible && m_isLabelVisible && m_capacity);
}

void CapacityLine::setLabelVisible(bool visible)
{
    m_isLabelVisible = visible;
    setVisible(m_isVisible);
}

double CapacityLine::labelWidth() const
{
    const QMargins padding = m_label->padding();
    return QFontMetricsF(m_label->font()).horizontalAdvance(m_label->text()) + padding.left() + padding.right();
}

void CapacityLine::applyTheme(const Theme& theme)
{
    QPen pen(theme.capacity, 1.4);
    pen.setDashPattern({5, 3});
    pen.setCapStyle(Qt::FlatCap);
    m_line->setPen(pen);
    m_label->setColor(theme.error.text);
    m_label->setFont(m_plot.smallBoldFont());
    QColor behind = theme.window;
    behind.setAlphaF(0.75F);
    m_label->setBrush(behind);
}

} // namespace headroom
