// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/overlay_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_legend.h"
#include "charts/chart_title.h"
#include "charts/overlay_plot.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QImage>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double keyZoom = 0.7;
constexpr double besideRuns = 0.5; ///< half a place free at either end
constexpr int leastPlotLines = 8; ///< of text; with less room the plot needs the legend's

StepRange boundsOf(const OverlayData& data)
{
    if (data.isOverRuns())
        return {-besideRuns, static_cast<double>(data.runNames.size()) - besideRuns};
    StepRange bounds{0, 1};
    bool isFirst = true;
    for (const OverlayLine& line : data.lines) {
        if (line.keys.empty())
            continue;
        bounds.first = isFirst ? line.keys.front() : std::min(bounds.first, line.keys.front());
        bounds.last = isFirst ? line.keys.back() : std::max(bounds.last, line.keys.back());
        isFirst = false;
    }
    return bounds;
}

} // namespace

OverlayChart::OverlayChart(QWidget* parent)
    : QWidget(parent)
    , m_range(new ViewState(this))
    , m_title(new ChartTitle({}, this))
    , m_plot(new OverlayPlot(*m_range, this))
    , m_legend(new ChartLegend(this))
{
    setFocusPolicy(Qt::StrongFocus);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 4, 8, 4);
    layout->setSpacing(2);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_legend);
    connect(m_plot, &OverlayPlot::cursorMoved, this, &OverlayChart::updateTexts);
    updateTexts();
}

OverlayChart::~OverlayChart() = default;

void OverlayChart::setData(Overlay overlay)
{
    // The same steps of the same runs: what was zoomed into stays in view.
    const bool isSameKind = m_data && overlay && m_data->isOverRuns() == overlay->isOverRuns();
    m_data = std::move(overlay);
    if (m_data)
        m_range->setBounds(boundsOf(*m_data));
    if (!isSameKind)
        m_range->fit();
    m_plot->setData(m_data);
    updateTexts();
}

void OverlayChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitLegend();
}

/// Where room is scarce the lines need it more: the readout names them too.
void OverlayChart::fitLegend()
{
    const int width = contentsRect().width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    m_title->setVisible(height() > fontMetrics().height() * leastPlotLines);
    m_legend->setVisible(!m_legend->entries().empty()
                         && height() - m_legend->heightForWidth(width) > fontMetrics().height() * leastPlotLines);
}

void OverlayChart::updateTexts()
{
    std::vector<ChartLegend::Entry> entries;
    if (m_data) {
        for (const OverlayLine& line : m_data->lines) {
            const QString name = line.run.isEmpty() ? line.name : line.run + u" · " + line.name;
            entries.push_back({static_cast<int>(entries.size()), name, m_plot->colorOf(line), ChartLegend::Mark::Line});
        }
    }
    m_legend->setEntries(std::move(entries));
    fitLegend();
    m_title->setTitle(m_data ? m_data->title : QString());
    setAccessibleName(m_title->title());
    QString description = m_plot->cursor() ? m_plot->keyText(*m_plot->cursor()) : QString();
    for (const ReadoutItem::Row& row : m_plot->readout()->rows()) {
        if (m_plot->cursor())
            description += QStringLiteral(", %1 %2").arg(row.name, row.value);
    }
    setAccessibleDescription(description);
}

void OverlayChart::moveCursor(int direction)
{
    const StepRange bounds = m_range->bounds();
    const double place = m_plot->cursor() ? *m_plot->cursor() + direction : std::round(m_range->range().centre());
    const double key = std::clamp(place, std::ceil(bounds.first), std::floor(bounds.last));
    const StepRange shown = m_range->range();
    if (key < shown.first)
        m_range->pan(key - shown.first, ViewState::Gesture::Continued);
    else if (key > shown.last)
        m_range->pan(key - shown.last, ViewState::Gesture::Continued);
    m_plot->setCursor(key);
    updateTexts();
}

void OverlayChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_data || m_data->lines.empty() || event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier))
        return QWidget::keyPressEvent(event);
    const double centre = m_plot->cursor().value_or(m_range->range().centre());
    switch (event->key()) {
    case Qt::Key_Left:
        return moveCursor(-1);
    case Qt::Key_Right:
        return moveCursor(1);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return m_range->zoom(keyZoom, centre);
    case Qt::Key_Minus:
        return m_range->zoom(1 / keyZoom, centre);
    case Qt::Key_Home:
        return m_range->fit();
    case Qt::Key_Escape:
        if (m_plot->cursor()) {
            m_plot->setCursor({});
            return updateTexts();
        }
        break;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

void OverlayChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("comparison.png"), [this] { return values(); });
    menu.exec(event->globalPos());
}

void OverlayChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        updateTexts();
}

QImage OverlayChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> OverlayChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

QString OverlayChart::values() const
{
    constexpr int digits = 17; // what a double holds
    QString text = QStringLiteral("run\tname\tat\tvalue\n");
    if (!m_data)
        return text;
    for (const OverlayLine& line : m_data->lines) {
        for (std::size_t i = 0; i < line.keys.size(); ++i) {
            const QString run
                = m_data->isOverRuns() ? m_data->runNames[static_cast<std::size_t>(line.keys[i])] : line.run;
            text += run + u'\t' + line.name + u'\t' + QString::number(static_cast<qint64>(line.keys[i])) + u'\t'
                + QString::number(line.values[i], 'g', digits) + u'\n';
        }
    }
    return text;
}

QSize OverlayChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(60, 30);
}

QSize OverlayChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(28, 16);
}

} // namespace headroom
