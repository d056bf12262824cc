// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stage_marks.h"

#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace headroom {

namespace {

void drawDiamond(QCPPainter& painter, QPointF centre, double reach)
{
    const std::array<QPointF, 4> corners{centre + QPointF(0, -reach), centre + QPointF(reach, 0),
                                         centre + QPointF(0, reach), centre + QPointF(-reach, 0)};
    painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
}

} // namespace

StageMarks::StageMarks(QCustomPlot* plot, QCPAxisRect* rect)
    : QCPAbstractItem(plot)
    , m_rect(rect)
{
    setSelectable(false);
    setClipToAxisRect(false); // a total above the highest bar may reach over the rect
}

void StageMarks::draw(QCPPainter* painter)
{
    drawSelection(*painter);
    for (std::size_t stage = 0; stage < m_marks.size(); ++stage)
        drawMark(*painter, stage);
    drawTotals(*painter);
}

void StageMarks::drawSelection(QCPPainter& painter) const
{
    if (!m_selected || *m_selected < 0 || static_cast<std::size_t>(*m_selected) >= m_marks.size())
        return;
    // A bar of the accent colour under the stage, beside its label: the stack's own colours stay readable.
    const double x = pixelX(static_cast<std::size_t>(*m_selected));
    const double half = std::max(m_barWidth / 2, 3.0);
    painter.setAntialiasing(false);
    painter.fillRect(QRectF(x - half, m_rect->bottom() + 2, 2 * half, 3), Theme::current().accent);
}

void StageMarks::drawMark(QCPPainter& painter, std::size_t stage) const
{
    const Theme& theme = Theme::current();
    const Mark& mark = m_marks[stage];
    const double x = pixelX(stage);
    if (mark.baseline) {
        const double half = m_barWidth / 2 + std::clamp(m_barWidth * 0.08, 1.0, 4.0);
        QPen pen(theme.reserved, 1);
        pen.setDashPattern({3, 2});
        painter.setAntialiasing(false);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(QPointF(x - half, pixelY(*mark.baseline)), QPointF(x + half, pixelY(Bytes{}))));
    }
    if (mark.interval)
        drawWhisker(painter, x, *mark.interval);
    if (mark.measured) {
        const double reach = std::clamp(m_barWidth * 0.1, 2.5, 5.0);
        painter.setAntialiasing(true);
        painter.setPen(QPen(theme.window, 1)); // stands out where it touches a bar
        painter.setBrush(theme.text);
        drawDiamond(painter, {x + m_barWidth / 2 + reach + 2, pixelY(*mark.measured)}, reach);
    }
}

/// A light line under a dark one, so that it is seen on every part of the stack and beside it.
void StageMarks::drawWhisker(QCPPainter& painter, double x, const Interval& interval) const
{
    const Theme& theme = Theme::current();
    const double cap = std::clamp(m_barWidth * 0.12, 2.0, 6.0);
    const QPointF top(x, pixelY(interval.high)), bottom(x, pixelY(interval.low));
    painter.setAntialiasing(true);
    for (const QPen& pen : {QPen(theme.window, 3.2), QPen(theme.text, 1.2)}) {
        painter.setPen(pen);
        painter.drawLine(top, bottom);
        painter.drawLine(top - QPointF(cap, 0), top + QPointF(cap, 0));
        painter.drawLine(bottom - QPointF(cap, 0), bottom + QPointF(cap, 0));
    }
}

void StageMarks::drawTotals(QCPPainter& painter) const
{
    const Theme& theme = Theme::current();
    const QFontMetricsF metrics(m_font);
    painter.setFont(m_font);
    const auto isOver = [&](std::size_t stage) { return m_capacity && *m_marks[stage].total > *m_capacity; };
    // Where totals would run into each other, the selected stage's, then the highest ones are written.
    std::vector<std::size_t> order(m_marks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [this](std::size_t stage) { return !m_marks[stage].total; });
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
        const auto isSelected = [this](std::size_t stage) { return m_selected == static_cast<int>(stage); };
        return std::pair(!isSelected(a), -m_marks[a].total->value)
            < std::pair(!isSelected(b), -m_marks[b].total->value);
    });
    std::vector<QRectF> written;
    for (const std::size_t stage : order) {
        const QString text = gibNumber(*m_marks[stage].total);
        QRectF box(0, 0, metrics.horizontalAdvance(text) + 4, metrics.height());
        box.moveCenter({pixelX(stage), 0});
        const Bytes total = *m_marks[stage].total;
        box.moveBottom(pixelY(m_marks[stage].interval ? std::max(total, m_marks[stage].interval->high) : total) - 2);
        const auto touches
            = [&box](const QRectF& other) { return box.left() < other.right() && other.left() < box.right(); };
        if (std::any_of(written.begin(), written.end(), touches))
            continue;
        written.push_back(box);
        painter.fillRect(box, theme.window); // the line of the capacity may run through it
        painter.setPen(isOver(stage) ? theme.error.text : theme.text);
        painter.drawText(box, Qt::AlignCenter, text);
    }
}

double StageMarks::pixelX(std::size_t stage) const
{
    return m_rect->axis(QCPAxis::atBottom)->coordToPixel(static_cast<double>(stage));
}

double StageMarks::pixelY(Bytes bytes) const
{
    return m_rect->axis(QCPAxis::atLeft)->coordToPixel(bytes.gib());
}

} // namespace headroom
