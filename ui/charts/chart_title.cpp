// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/chart_title.h"

#include "theme/theme.h"

#include <QPainter>

namespace headroom {

namespace {

constexpr int gap = 8;

} // namespace

ChartTitle::ChartTitle(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(title)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void ChartTitle::setTitle(const QString& title)
{
    if (title == m_title)
        return;
    m_title = title;
    updateGeometry();
    update();
}

void ChartTitle::setSubtitle(const QString& subtitle)
{
    if (subtitle == m_subtitle)
        return;
    m_subtitle = subtitle;
    updateGeometry();
    update();
}

QSize ChartTitle::sizeHint() const
{
    return {QFontMetrics(titleFont()).horizontalAdvance(m_title) + gap + fontMetrics().horizontalAdvance(m_subtitle),
            fontMetrics().height() + 4};
}

QSize ChartTitle::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 12, fontMetrics().height() + 4};
}

void ChartTitle::paintEvent(QPaintEvent*)
{
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setFont(titleFont());
    const QFontMetrics titleMetrics(titleFont());
    const QString title = titleMetrics.elidedText(m_title, Qt::ElideRight, width());
    painter.setPen(theme.text);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, title);
    const QRect rest = rect().adjusted(titleMetrics.horizontalAdvance(title) + gap, 0, 0, 0);
    const QString subtitle = fontMetrics().elidedText(m_subtitle, Qt::ElideRight, rest.width());
    painter.setFont(font());
    painter.setPen(theme.mutedText);
    painter.drawText(rest, Qt::AlignLeft | Qt::AlignVCenter, subtitle);
    setToolTip(subtitle == m_subtitle ? QString() : m_subtitle);
}

QFont ChartTitle::titleFont() const
{
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    return bold;
}

} // namespace headroom
