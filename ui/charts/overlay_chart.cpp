// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/overlay_chart.h"

#include "charts/chart_title.h"
#include "charts/overlay_plot.h"
#include "workspace/view_state.h"

#include <QKeyEvent>

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double besideRuns = 0.5; ///< half a place free at either end

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
    : FramedChart({}, QStringLiteral("comparison.png"), parent)
    , m_range(new ViewState(this))
    , m_plot(new OverlayPlot(*m_range, this))
{
    setPlot(m_plot);
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

void OverlayChart::updateTexts()
{
    std::vector<ChartLegend::Entry> entries;
    if (m_data) {
        for (const OverlayLine& line : m_data->lines) {
            const QString name = line.run.isEmpty() ? line.name : line.run + u" · " + line.name;
            entries.push_back({static_cast<int>(entries.size()), name, m_plot->colorOf(line), ChartLegend::Mark::Line});
        }
    }
    setLegend(std::move(entries));
    title().setTitle(m_data ? m_data->title : QString());
    setAccessibleName(title().title());
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
    bringIntoView(*m_range, key);
    m_plot->setCursor(key);
    updateTexts();
}

void OverlayChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_data || m_data->lines.empty() || event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier))
        return QWidget::keyPressEvent(event);
    const double centre = m_plot->cursor().value_or(m_range->range().centre());
    if (zoomBy(*event, *m_range, centre))
        return;
    switch (event->key()) {
    case Qt::Key_Left:
        return moveCursor(-1);
    case Qt::Key_Right:
        return moveCursor(1);
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

} // namespace headroom
