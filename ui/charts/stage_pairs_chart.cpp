// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/stage_pairs_chart.h"

#include "charts/chart_title.h"
#include "charts/stage_pairs_plot.h"
#include "theme/theme.h"

#include <QKeyEvent>

#include <algorithm>

namespace headroom {

StagePairsChart::StagePairsChart(QWidget* parent)
    : FramedChart(tr("Peak of each stage"), QStringLiteral("stages.png"), parent)
    , m_plot(new StagePairsPlot(this))
{
    setPlot(m_plot);
    connect(m_plot, &StagePairsPlot::cursorMoved, this, &StagePairsChart::updateTexts);
    updateTexts();
}

StagePairsChart::~StagePairsChart() = default;

void StagePairsChart::setPairs(std::shared_ptr<const StagePairs> pairs)
{
    m_pairs = std::move(pairs);
    m_plot->setPairs(m_pairs);
    updateTexts();
}

void StagePairsChart::updateTexts()
{
    std::vector<ChartLegend::Entry> entries;
    QString subtitle;
    if (m_pairs) {
        const auto& [before, after] = m_pairs->sides;
        if (before.isEstimated() && after.isEstimated())
            subtitle = tr("left %1, right %2").arg(before.name, after.name);
        else
            subtitle = tr("bars %1, marks %2")
                           .arg(before.isEstimated() ? before.name : after.name,
                                before.isEstimated() ? after.name : before.name);
        for (std::size_t part = stackPartCount; part-- > 0;) {
            if (m_plot->occurs(part))
                entries.push_back(
                    {static_cast<int>(part), stackPartName(part), stackPartColor(part), ChartLegend::Mark::Square});
        }
        const Theme& theme = Theme::current();
        entries.push_back({stackPartCount, tr("Allocated"), theme.text, ChartLegend::Mark::Line});
        const auto isMeasured = [](const StagePairs::Side& side) { return !side.measured.empty(); };
        if (isMeasured(before) || isMeasured(after))
            entries.push_back({stackPartCount + 1, tr("Measured"), theme.text, ChartLegend::Mark::Diamond});
        if (before.peak || after.peak)
            entries.push_back(
                {stackPartCount + 2, tr("Measured on some stage"), theme.text, ChartLegend::Mark::DashedLine});
    }
    setLegend(std::move(entries));
    title().setSubtitle(subtitle);
    QString description = subtitle;
    if (m_plot->cursor()) {
        description = m_plot->readout()->heading();
        for (const ReadoutItem::Row& row : m_plot->readout()->rows())
            description += QStringLiteral(", %1 %2").arg(row.name, row.value);
    }
    setAccessibleDescription(description);
}

void StagePairsChart::keyPressEvent(QKeyEvent* event)
{
    const int last = m_pairs ? static_cast<int>(m_pairs->stageCount()) - 1 : -1;
    const int key = event->key();
    if (last < 0 || (key != Qt::Key_Left && key != Qt::Key_Right && key != Qt::Key_Escape))
        return QWidget::keyPressEvent(event);
    if (key == Qt::Key_Escape) {
        if (!m_plot->cursor())
            return QWidget::keyPressEvent(event);
        m_plot->setCursor({});
    } else {
        const int step = key == Qt::Key_Left ? -1 : 1;
        m_plot->setCursor(m_plot->cursor() ? std::clamp(*m_plot->cursor() + step, 0, last) : step > 0 ? 0 : last);
    }
    updateTexts();
}

QString StagePairsChart::values() const
{
    QString text = QStringLiteral("run\tstage\tallocated\treserved\tdevice\tmeasured\n");
    const std::size_t count = m_pairs ? m_pairs->stageCount() : 0;
    for (std::size_t side = 0; side < 2 && m_pairs; ++side) {
        const StagePairs::Side& run = m_pairs->sides[side];
        for (std::size_t stage = 0; stage < count; ++stage) {
            QStringList cells{run.name, QString::number(stage), {}, {}, {}, {}};
            if (stage < run.stages.size()) {
                const StageFootprint& estimate = run.stages[stage];
                cells[2] = QString::number(estimate.peakAllocated.value);
                cells[3] = estimate.peakReserved.value > 0 ? QString::number(estimate.peakReserved.value) : QString();
                cells[4] = QString::number(estimate.device.value);
            }
            if (stage < run.measured.size() && run.measured[stage])
                cells[5] = QString::number(run.measured[stage]->value);
            text += cells.join(u'\t') + u'\n';
        }
    }
    return text;
}

} // namespace headroom
