// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/marker_items.h"

#include "charts/plot_canvas.h"
#include "theme/theme.h"

namespace headroom {

MarkerItems::MarkerItems(PlotCanvas& plot, QCPAxisRect& rect)
    : m_plot(plot)
    , m_rect(rect)
    , m_box(new ReadoutItem(&plot))
{
    QCPAxis* steps = rect.axis(QCPAxis::atBottom);
    QCPAxis* values = rect.axis(QCPAxis::atLeft);
    for (std::size_t i = 0; i < m_markers.size(); ++i) {
        Marker& marker = m_markers[i];
        marker.line = new QCPItemStraightLine(&plot);
        marker.line->setSelectable(false);
        marker.line->setLayer(plot.cursorLayer());
        marker.line->setClipAxisRect(&rect);
        for (QCPItemPosition* position : marker.line->positions())
            position->setAxes(steps, values);
        marker.letter = makePlotText(&plot);
        marker.letter->setLayer(plot.cursorLayer());
        marker.letter->setText(i == 0 ? QStringLiteral("A") : QStringLiteral("B"));
        marker.letter->position->setAxes(steps, values);
        marker.letter->position->setAxisRect(&rect);
        marker.letter->position->setTypeX(QCPItemPosition::ptPlotCoords);
        marker.letter->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        marker.letter->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
        marker.letter->setPadding(QMargins(4, 0, 4, 0));
        setStep(i, {});
    }
    m_box->setLayer(plot.cursorLayer());
    m_box->setClipAxisRect(&rect);
    m_box->setClipToAxisRect(false);
    m_box->setVisible(false);
}

void MarkerItems::setStep(std::size_t which, std::optional<qint64> step)
{
    const Marker& marker = m_markers[which];
    const bool isShown = step && m_rect.axis(QCPAxis::atBottom)->range().contains(static_cast<double>(*step));
    marker.line->setVisible(isShown);
    marker.letter->setVisible(isShown);
    if (!isShown)
        return;
    const auto at = static_cast<double>(*step);
    marker.line->point1->setCoords(at, 1);
    marker.line->point2->setCoords(at, 2);
    marker.letter->position->setCoords(at, 0);
}

void MarkerItems::setDifferences(const QString& heading, std::vector<ReadoutItem::Row> rows)
{
    m_box->setVisible(!rows.empty());
    m_box->setContent(heading, std::move(rows));
}

void MarkerItems::place()
{
    m_box->setAnchorPixel(QPointF(m_rect.left(), m_rect.top()));
}

void MarkerItems::applyTheme(const Theme& theme)
{
    for (const Marker& marker : m_markers) {
        marker.line->setPen(QPen(theme.accent, 1));
        marker.letter->setColor(theme.onAccent);
        marker.letter->setBrush(theme.accent);
        marker.letter->setFont(m_plot.smallBoldFont());
    }
    m_box->setFonts(m_plot.smallFont(), m_plot.smallBoldFont());
}

} // namespace headroom
