// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/readout_item.h"

#include "theme/theme.h"

#include <algorithm>

namespace headroom {

namespace {

constexpr double padding = 9;
constexpr double dotSize = 8;
constexpr double gapToAnchor = 10;

} // namespace

ReadoutItem::ReadoutItem(QCustomPlot* plot)
    : QCPAbstractItem(plot)
{
    setClipToAxisRect(false);
    setSelectable(false);
}

void ReadoutItem::setContent(const QString& heading, std::vector<Row> rows)
{
    m_heading = heading;
    m_rows = std::move(rows);
}

void ReadoutItem::setFonts(const QFont& font, const QFont& valueFont)
{
    m_font = font;
    m_valueFont = valueFont;
}

void ReadoutItem::draw(QCPPainter* painter)
{
    const QFontMetricsF metrics(m_font), valueMetrics(m_valueFont);
    double nameWidth = 0, valueWidth = 0;
    for (const Row& row : m_rows) {
        nameWidth = std::max(nameWidth, metrics.horizontalAdvance(row.name));
        valueWidth = std::max(valueWidth, valueMetrics.horizontalAdvance(row.value));
    }
    const double lineHeight = std::ceil(metrics.height() * 1.15);
    const double width = std::max(metrics.horizontalAdvance(m_heading), dotSize + 6 + nameWidth + 18 + valueWidth);
    const double height = lineHeight * static_cast<double>(m_rows.size() + 1);
    const QRectF box = placed({width + 2 * padding, height + 2 * padding - 4});

    const Theme& theme = Theme::current();
    painter->setAntialiasing(true);
    painter->setPen(QPen(theme.border, 1));
    painter->setBrush(theme.window);
    painter->drawRoundedRect(box, 4, 4);

    QRectF line(box.left() + padding, box.top() + padding - 2, width, lineHeight);
    painter->setFont(m_font);
    painter->setPen(theme.mutedText);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, m_heading);
    for (const Row& row : m_rows) {
        line.translate(0, lineHeight);
        painter->setPen(Qt::NoPen);
        painter->setBrush(row.color);
        painter->drawEllipse(QRectF(line.left(), line.center().y() - dotSize / 2, dotSize, dotSize));
        painter->setPen(theme.text);
        painter->setFont(m_font);
        painter->drawText(line.adjusted(dotSize + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, row.name);
        painter->setFont(m_valueFont);
        painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, row.value);
    }
}

QRectF ReadoutItem::placed(QSizeF size) const
{
    const QRectF bounds = clipAxisRect() ? QRectF(clipAxisRect()->rect()) : QRectF(parentPlot()->viewport());
    QRectF box(m_anchor + QPointF(gapToAnchor, gapToAnchor), size);
    if (box.right() > bounds.right())
        box.moveRight(m_anchor.x() - gapToAnchor);
    if (box.bottom() > bounds.bottom())
        box.moveBottom(std::max(bounds.bottom(), bounds.top() + size.height()));
    box.moveLeft(std::max(box.left(), bounds.left()));
    // Half pixels keep the thin border sharp.
    return {std::floor(box.left()) + 0.5, std::floor(box.top()) + 0.5, std::ceil(size.width()),
            std::ceil(size.height())};
}

} // namespace headroom
