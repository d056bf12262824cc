// SPDX-License-Identifier: GPL-3.0-or-later
//
// What leaves a PeaksChart: pictures and values.
#include "charts/chart_export.h"
#include "charts/peaks_chart.h"
#include "charts/peaks_plot.h"

#include <QRegularExpression>

namespace headroom {

namespace {

/// A word that needs no quotes among comma-separated values.
QString columnName(const MetricLine& line)
{
    switch (line.metric) {
    case Metric::StepTime:
        return u"step_seconds"_qs;
    case Metric::TokensPerSecond:
        return u"tokens_per_second"_qs;
    case Metric::Loss:
        return u"loss"_qs;
    case Metric::Timer:
        break;
    }
    QString name = QString::fromStdString(line.timer.phase);
    static const QRegularExpression others(u"[^\\w./-]+"_qs);
    name.replace(others, u"_"_qs);
    return name + (line.timer.rank >= 0 ? u"_rank%1"_qs.arg(line.timer.rank) : QString()) + u"_seconds"_qs;
}

} // namespace

QString PeaksChart::values() const
{
    return values(u'\t');
}

QString PeaksChart::values(QChar separator) const
{
    QString text = QStringLiteral("step");
    for (const PeaksPlot::Drawn& drawn : m_plot->lines()) {
        const Channel& channel = drawn.channel;
        const QString phase = QString::fromStdString(channel.phase);
        text += separator
            + (phase.isEmpty() ? (channel.isReserved ? u"reserved"_qs : u"allocated"_qs)
                               : phase + (channel.isReserved ? u"_reserved"_qs : QString()))
            + (channel.rank >= 0 ? u"_rank%1"_qs.arg(channel.rank) : QString()) + u"_bytes"_qs;
    }
    std::vector<MetricLine> metrics = m_series->metrics;
    metrics.insert(metrics.end(), m_series->timers.begin(), m_series->timers.end());
    for (const MetricLine& metric : metrics)
        text += separator + columnName(metric);
    text += separator + u"line\n"_qs;
    const StepRange range = m_view->range();
    for (std::size_t i = 0; i < m_series->overall.size(); ++i) {
        const std::uint32_t step = m_series->overall.steps[i];
        if (step < range.first || step > range.last)
            continue;
        text += QString::number(step);
        const auto addCell = [&](const auto& line, const auto& cells) {
            text += separator;
            if (const auto at = line.holdLast(step); at && line.steps[*at] == step) // nothing made up in between
                text += QString::number(cells[*at]);
        };
        for (const PeaksPlot::Drawn& drawn : m_plot->lines())
            addCell(*drawn.line, drawn.line->bytes);
        for (const MetricLine& metric : metrics)
            addCell(metric, metric.values);
        text += separator + QString::number(m_shown->line[m_series->overall.records[i]]) + u'\n';
    }
    return text;
}

tl::expected<void, QString> PeaksChart::saveValues(const QString& path) const
{
    return saveText(values(u','), path);
}

void PeaksChart::askAndSaveImage()
{
    askAndSaveChart(*this, *m_plot, QStringLiteral("peaks.png"));
}

void PeaksChart::askAndSaveValues()
{
    askAndSaveText(*this, values(u','), QStringLiteral("peaks.csv"));
}

void PeaksChart::copyImage()
{
    copyChart(*this, *m_plot);
}

QImage PeaksChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> PeaksChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
}

} // namespace headroom
