// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/plot_canvas.h"

#include "theme/theme.h"

#include <QWindow>

namespace headroom {

PlotCanvas::PlotCanvas(QWidget* parent)
    : QCustomPlot(parent)
{
    setPlottingHints(QCP::phCacheLabels | QCP::phFastPolylines);
    setNoAntialiasingOnDrag(false);
    setFocusPolicy(Qt::NoFocus); // the chart around it has the keyboard
    setMinimumSize(120, 90);
    addLayer(QStringLiteral("cursor"));
    m_cursorLayer = layer(QStringLiteral("cursor"));
    m_cursorLayer->setMode(QCPLayer::lmBuffered);
}

QFont PlotCanvas::smallFont() const
{
    QFont small = font();
    if (small.pointSizeF() > 0)
        small.setPointSizeF(small.pointSizeF() * 0.88);
    return small;
}

QFont PlotCanvas::smallBoldFont() const
{
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    return bold;
}

void PlotCanvas::setExportPixelRatio(double ratio)
{
    m_exportRatio = ratio;
    setBufferDevicePixelRatio(ratio > 0 ? ratio : devicePixelRatioF());
    replot(QCustomPlot::rpImmediateRefresh);
}

void PlotCanvas::applyTheme(const Theme& theme)
{
    setBackground(theme.window);
    scheduleReplot();
}

void PlotCanvas::styleAxes(const Theme& theme, QCPAxis* keyAxis, QCPAxis* valueAxis) const
{
    for (QCPAxis* axis : {keyAxis, valueAxis}) {
        axis->setBasePen(Qt::NoPen);
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLength(0);
        axis->setTickLabelPadding(6);
        axis->setTickLabelColor(theme.mutedText);
        axis->setTickLabelFont(smallFont());
        axis->setLabelColor(theme.mutedText);
        axis->setLabelFont(smallFont());
        axis->grid()->setPen(QPen(theme.grid, 1));
        axis->grid()->setZeroLinePen(QPen(theme.border, 1));
    }
    keyAxis->grid()->setVisible(false);
}

void PlotCanvas::changeEvent(QEvent* event)
{
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        applyTheme(Theme::current());
}

void PlotCanvas::resizeEvent(QResizeEvent* event)
{
    followScreen();
    QCustomPlot::resizeEvent(event);
}

void PlotCanvas::showEvent(QShowEvent* event)
{
    QCustomPlot::showEvent(event);
    if (const QWindow* handle = window()->windowHandle())
        connect(handle, &QWindow::screenChanged, this, &PlotCanvas::followScreen, Qt::UniqueConnection);
    followScreen();
}

void PlotCanvas::followScreen()
{
    if (m_exportRatio > 0 || qFuzzyCompare(bufferDevicePixelRatio(), devicePixelRatioF()))
        return;
    setBufferDevicePixelRatio(devicePixelRatioF());
    scheduleReplot();
}

QCPItemText* makePlotText(QCustomPlot* plot)
{
    auto* text = new QCPItemText(plot);
    text->setSelectable(false);
    text->setClipToAxisRect(false);
    text->position->setAxisRect(plot->axisRect());
    text->position->setType(QCPItemPosition::ptAxisRectRatio);
    return text;
}

QCPItemText* makeUnitText(QCustomPlot* plot)
{
    QCPItemText* text = makePlotText(plot);
    text->position->setCoords(0, 0);
    text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    text->setPadding(QMargins(0, 0, 6, 4));
    return text;
}

} // namespace headroom
