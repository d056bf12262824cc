// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/loss_chart.h"

#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/loss_plot.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QKeyEvent>

#include <algorithm>

namespace headroom {

LossChart::LossChart(QWidget* parent)
    : FramedChart(tr("Loss of both runs"), QStringLiteral("loss.png"), parent)
    , m_range(new ViewState(this))
    , m_plot(new LossPlot(*m_range, this))
{
    setPlot(m_plot);
    connect(m_plot, &LossPlot::cursorMoved, this, &LossChart::updateTexts);
    updateTexts();
}

LossChart::~LossChart() = default;

void LossChart::setCurves(Curves curves)
{
    m_curves = std::move(curves);
    if (m_curves && !m_curves->steps.empty())
        m_range->setBounds({m_curves->steps.front(), m_curves->steps.back()});
    m_range->fit();
    m_plot->setCurves(m_curves);
    updateTexts();
}

void LossChart::updateTexts()
{
    if (!m_curves) {
        setLegend({});
        title().setSubtitle({});
        setAccessibleDescription({});
        return;
    }
    const auto color = LossPlot::colors();
    setLegend({{0, m_curves->firstName, color[0], ChartLegend::Mark::Line},
               {1, m_curves->secondName, color[1], ChartLegend::Mark::Line},
               {2, tr("Difference, second less first"), color[2], ChartLegend::Mark::Line},
               {3, tr("Tolerance"), Theme::current().capacity, ChartLegend::Mark::DashedLine}});
    title().setSubtitle(tr("%n common steps", nullptr, static_cast<int>(m_curves->steps.size())));
    QString description = title().subtitle();
    if (const auto place = m_plot->cursor()) {
        description += QStringLiteral(". ")
            + tr("Step %1: %2 and %3")
                  .arg(countText(static_cast<qint64>(m_curves->steps[*place])),
                       QLocale().toString(m_curves->first[*place], 'g', 6),
                       QLocale().toString(m_curves->second[*place], 'g', 6));
    }
    setAccessibleDescription(description);
}

void LossChart::moveCursor(int direction)
{
    const auto last = static_cast<std::ptrdiff_t>(m_curves->steps.size()) - 1;
    const auto& steps = m_curves->steps;
    const auto middle = std::lower_bound(steps.begin(), steps.end(), m_range->range().centre()) - steps.begin();
    const auto place = m_plot->cursor() ? static_cast<std::ptrdiff_t>(*m_plot->cursor()) + direction : middle;
    const auto chosen = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, last));
    m_plot->setCursor(chosen);
    bringIntoView(*m_range, steps[chosen]);
    updateTexts();
}

void LossChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_curves || m_curves->steps.empty())
        return QWidget::keyPressEvent(event);
    const auto cursor = m_plot->cursor();
    const double centre = cursor ? m_curves->steps[*cursor] : m_range->range().centre();
    if (zoomBy(*event, *m_range, centre))
        return;
    switch (event->key()) {
    case Qt::Key_Left:
        return moveCursor(-1);
    case Qt::Key_Right:
        return moveCursor(1);
    case Qt::Key_Escape:
        if (cursor) {
            m_plot->setCursor({});
            return updateTexts();
        }
        break;
    default:
        break;
    }
    QWidget::keyPressEvent(event);
}

QString LossChart::values() const
{
    constexpr int digits = 17; // what a double holds
    QString text = QStringLiteral("step\tfirst_loss\tsecond_loss\tdifference\n");
    for (std::size_t i = 0; m_curves && i < m_curves->steps.size(); ++i) {
        text += QString::number(static_cast<qint64>(m_curves->steps[i])) + u'\t'
            + QString::number(m_curves->first[i], 'g', digits) + u'\t'
            + QString::number(m_curves->second[i], 'g', digits) + u'\t'
            + QString::number(m_curves->second[i] - m_curves->first[i], 'g', digits) + u'\n';
    }
    return text;
}

} // namespace headroom
