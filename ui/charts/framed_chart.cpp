// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/framed_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_title.h"
#include "charts/plot_canvas.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QImage>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>

namespace headroom {

namespace {

constexpr double keyZoom = 0.7;
constexpr int leastPlotLines = 8; ///< of text; with less room the plot needs the legend's

} // namespace

FramedChart::FramedChart(const QString& title, QString fileName, QWidget* parent)
    : QWidget(parent)
    , m_fileName(std::move(fileName))
    , m_title(new ChartTitle(title, this))
    , m_legend(new ChartLegend(this))
    , m_layout(new QVBoxLayout(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(title);
    m_layout->setContentsMargins(14, 4, 8, 4);
    m_layout->setSpacing(2);
    m_layout->addWidget(m_title);
    m_layout->addWidget(m_legend);
}

void FramedChart::setPlot(PlotCanvas* plot)
{
    m_plot = plot;
    m_layout->insertWidget(1, plot, 1);
}

void FramedChart::setLegend(std::vector<ChartLegend::Entry> entries)
{
    m_legend->setEntries(std::move(entries));
    fitLegend();
}

void FramedChart::fitLegend()
{
    const QMargins margins = m_layout->contentsMargins();
    const int width = contentsRect().width() - margins.left() - margins.right();
    const int least = fontMetrics().height() * leastPlotLines;
    m_title->setVisible(height() > least);
    m_legend->setVisible(!m_legend->entries().empty() && height() - m_legend->heightForWidth(width) > least);
}

bool FramedChart::zoomBy(const QKeyEvent& event, ViewState& range, double centre)
{
    switch (event.key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        range.zoom(keyZoom, centre);
        return true;
    case Qt::Key_Minus:
        range.zoom(1 / keyZoom, centre);
        return true;
    case Qt::Key_Home:
        range.fit();
        return true;
    default:
        return false;
    }
}

void FramedChart::bringIntoView(ViewState& range, double place)
{
    const StepRange shown = range.range();
    if (place < shown.first)
        range.pan(place - shown.first, ViewState::Gesture::Continued);
    else if (place > shown.last)
        range.pan(place - shown.last, ViewState::Gesture::Continued);
}

void FramedChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, m_fileName, [this] { return values(); });
    menu.exec(event->globalPos());
}

void FramedChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        updateTexts();
}

void FramedChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitLegend();
}

QImage FramedChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> FramedChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QSize FramedChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(60, 30);
}

QSize FramedChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(28, 16);
}

} // namespace headroom
