// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/loss_chart.h"

#include "charts/chart_export.h"
#include "charts/chart_legend.h"
#include "charts/chart_title.h"
#include "charts/gib_text.h"
#include "charts/loss_plot.h"
#include "theme/theme.h"
#include "workspace/view_state.h"

#include <QContextMenuEvent>
#include <QImage>
#include <QKeyEvent>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

namespace {

constexpr double keyZoom = 0.7;
constexpr int leastPlotLines = 9; ///< of text; with less room the plot needs the legend's

} // namespace

LossChart::LossChart(QWidget* parent)
    : QWidget(parent)
    , m_range(new ViewState(this))
    , m_title(new ChartTitle(tr("Loss of both runs"), this))
    , m_plot(new LossPlot(*m_range, this))
    , m_legend(new ChartLegend(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Loss of both runs"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 4, 8, 4);
    layout->setSpacing(2);
    layout->addWidget(m_title);
    layout->addWidget(m_plot, 1);
    layout->addWidget(m_legend);
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

void LossChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitLegend();
}

/// Where room is scarce the curves need it more: the readout names them too.
void LossChart::fitLegend()
{
    const int width = contentsRect().width() - layout()->contentsMargins().left() - layout()->contentsMargins().right();
    m_title->setVisible(height() > fontMetrics().height() * leastPlotLines);
    m_legend->setVisible(!m_legend->entries().empty()
                         && height() - m_legend->heightForWidth(width) > fontMetrics().height() * leastPlotLines);
}

void LossChart::updateTexts()
{
    if (!m_curves) {
        m_legend->setEntries({});
        m_title->setSubtitle({});
        setAccessibleDescription({});
        return;
    }
    const auto color = LossPlot::colors();
    m_legend->setEntries({{0, m_curves->firstName, color[0], ChartLegend::Mark::Line},
                          {1, m_curves->secondName, color[1], ChartLegend::Mark::Line},
                          {2, tr("Difference, second less first"), color[2], ChartLegend::Mark::Line},
                          {3, tr("Tolerance"), Theme::current().capacity, ChartLegend::Mark::DashedLine}});
    fitLegend();
    m_title->setSubtitle(tr("%n common steps", nullptr, static_cast<int>(m_curves->steps.size())));
    QString description = m_title->subtitle();
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
    const StepRange shown = m_range->range();
    if (steps[chosen] < shown.first)
        m_range->pan(steps[chosen] - shown.first, ViewState::Gesture::Continued);
    else if (steps[chosen] > shown.last)
        m_range->pan(steps[chosen] - shown.last, ViewState::Gesture::Continued);
    updateTexts();
}

void LossChart::keyPressEvent(QKeyEvent* event)
{
    if (!m_curves || m_curves->steps.empty())
        return QWidget::keyPressEvent(event);
    const auto cursor = m_plot->cursor();
    const double centre = cursor ? m_curves->steps[*cursor] : m_range->range().centre();
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

void LossChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    addExportActions(menu, *this, *m_plot, QStringLiteral("loss.png"), [this] { return values(); });
    menu.exec(event->globalPos());
}

void LossChart::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        updateTexts();
}

QImage LossChart::image(double scale)
{
    return chartImage(*this, *m_plot, scale);
}

tl::expected<void, QString> LossChart::saveImage(const QString& path)
{
    return saveChart(*this, *m_plot, path);
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

QSize LossChart::sizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(60, 30);
}

QSize LossChart::minimumSizeHint() const
{
    return fontMetrics().averageCharWidth() * QSize(30, 16);
}

} // namespace headroom
