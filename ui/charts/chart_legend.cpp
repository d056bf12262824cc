// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/chart_legend.h"

#include "theme/theme.h"

#include <QAbstractButton>
#include <QEvent>
#include <QPainter>

#include <algorithm>
#include <array>

namespace headroom {

namespace {

constexpr int lineWidth = 16;
constexpr int shapeWidth = 10;
constexpr int markGap = 6;
constexpr int columnGap = 14;

int markWidth(ChartLegend::Mark mark)
{
    const bool isLine = mark == ChartLegend::Mark::Line || mark == ChartLegend::Mark::DashedLine;
    return isLine ? lineWidth : shapeWidth;
}

void drawMark(QPainter& painter, const QRectF& area, ChartLegend::Mark mark, const QColor& color)
{
    const QPointF centre = area.center();
    painter.setRenderHint(QPainter::Antialiasing);
    switch (mark) {
    case ChartLegend::Mark::Line:
    case ChartLegend::Mark::DashedLine: {
        QPen pen(color, 2, Qt::SolidLine, Qt::FlatCap);
        if (mark == ChartLegend::Mark::DashedLine)
            pen.setDashPattern({2, 1.2});
        painter.setPen(pen);
        painter.drawLine(QPointF(area.left(), centre.y()), QPointF(area.right(), centre.y()));
        break;
    }
    case ChartLegend::Mark::Square:
        painter.fillRect(QRectF(area.left(), centre.y() - 5, 10, 10), color);
        break;
    case ChartLegend::Mark::Diamond: {
        const double x = centre.x();
        const std::array<QPointF, 4> corners{QPointF(x, centre.y() - 5), QPointF(x + 5, centre.y()),
                                             QPointF(x, centre.y() + 5), QPointF(x - 5, centre.y())};
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
        break;
    }
    case ChartLegend::Mark::Outline: {
        QPen pen(color, 1);
        pen.setDashPattern({3, 2});
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(area.left() + 0.5, centre.y() - 4.5, 9, 9));
        break;
    }
    }
}

} // namespace

class LegendEntry : public QAbstractButton
{
public:
    explicit LegendEntry(QWidget* parent)
        : QAbstractButton(parent)
    {
    }

    void setEntry(const ChartLegend::Entry& entry)
    {
        m_entry = entry;
        setText(entry.name);
        setCheckable(entry.isCheckable);
        setChecked(entry.isCheckable && entry.isChecked);
        setFocusPolicy(entry.isCheckable ? Qt::TabFocus : Qt::NoFocus);
        setAttribute(Qt::WA_TransparentForMouseEvents, !entry.isCheckable);
        setToolTip(entry.isCheckable ? ChartLegend::tr("Show or hide %1").arg(entry.name) : QString());
        setAccessibleName(entry.name);
        update();
    }

    [[nodiscard]] const ChartLegend::Entry& entry() const { return m_entry; }

    [[nodiscard]] QSize sizeHint() const override
    {
        const QFontMetrics metrics(smallFont());
        return {markWidth(m_entry.mark) + markGap + metrics.horizontalAdvance(text()) + 4, metrics.height() + 4};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const Theme& theme = Theme::current();
        const bool isOff = isCheckable() && !isChecked();
        QPainter painter(this);
        const int width = markWidth(m_entry.mark);
        drawMark(painter, QRectF(1, 0, width, height()), m_entry.mark, isOff ? theme.border : m_entry.color);
        painter.setPen(isOff ? theme.mutedText : theme.text);
        QFont shown = smallFont();
        shown.setStrikeOut(isOff);
        painter.setFont(shown);
        painter.drawText(rect().adjusted(width + markGap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text());
        if (hasFocus()) {
            painter.setPen(theme.accent);
            painter.setBrush(Qt::NoBrush);
            painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
        }
    }

private:
    /// Not set on the parent: a style sheet stops fonts from being inherited.
    [[nodiscard]] QFont smallFont() const
    {
        QFont small = font();
        if (small.pointSizeF() > 0)
            small.setPointSizeF(small.pointSizeF() * 0.92);
        return small;
    }

    ChartLegend::Entry m_entry;
};

ChartLegend::ChartLegend(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ChartLegend::setEntries(std::vector<Entry> entries)
{
    if (entries == m_entries)
        return;
    m_entries = std::move(entries);
    while (m_buttons.size() > m_entries.size()) {
        delete m_buttons.back();
        m_buttons.pop_back();
    }
    while (m_buttons.size() < m_entries.size()) {
        auto* button = new LegendEntry(this);
        connect(button, &QAbstractButton::clicked, this, [this, button](bool isChecked) {
            for (Entry& entry : m_entries) {
                if (entry.id == button->entry().id)
                    entry.isChecked = isChecked;
            }
            emit toggled(button->entry().id, isChecked);
        });
        m_buttons.push_back(button);
        button->show();
    }
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        m_buttons[i]->setEntry(m_entries[i]);
    place();
    updateGeometry();
}

QSize ChartLegend::sizeHint() const
{
    const QSize size = cell();
    return {size.width() * static_cast<int>(std::min<std::size_t>(m_entries.size(), 4)), heightForWidth(width())};
}

QSize ChartLegend::minimumSizeHint() const
{
    return cell();
}

int ChartLegend::heightForWidth(int width) const
{
    const int count = static_cast<int>(m_entries.size());
    const int perRow = columns(width);
    return cell().height() * ((count + perRow - 1) / perRow);
}

void ChartLegend::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void ChartLegend::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        place();
        updateGeometry();
    }
}

void ChartLegend::place()
{
    const QSize size = cell();
    const int perRow = columns(width());
    for (int i = 0; i < static_cast<int>(m_buttons.size()); ++i) {
        LegendEntry* button = m_buttons[static_cast<std::size_t>(i)];
        button->setGeometry((i % perRow) * size.width(), (i / perRow) * size.height(), button->sizeHint().width(),
                            size.height());
    }
}

QSize ChartLegend::cell() const
{
    QSize size(1, 0);
    for (const LegendEntry* button : m_buttons)
        size = size.expandedTo(button->sizeHint() + QSize(columnGap, 0));
    return size;
}

int ChartLegend::columns(int width) const
{
    const int fitting = std::max(1, (width + columnGap) / cell().width());
    const int count = std::max(1, static_cast<int>(m_buttons.size()));
    if (fitting >= count)
        return count;
    // Even rows: 9 entries where 7 fit stand 5 and 4.
    const int rows = (count + fitting - 1) / fitting;
    return (count + rows - 1) / rows;
}

} // namespace headroom
