// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/plot_message.h"

#include <QStringList>
#include <QTextLayout>

#include <algorithm>

namespace headroom {
namespace {

constexpr int margin = 16;
constexpr int leastWidth = 60;

/// With line breaks where a line would be wider than `width` pixels.
QString wrapped(const QString& text, const QFont& font, int width)
{
    QStringList lines;
    for (const QString& paragraph : text.split(u'\n')) {
        QTextLayout layout(paragraph, font);
        layout.beginLayout();
        for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
            line.setLineWidth(width);
            lines.append(paragraph.mid(line.textStart(), line.textLength()).trimmed());
        }
        layout.endLayout();
    }
    return lines.join(u'\n');
}

} // namespace

PlotMessage::PlotMessage(QCustomPlot* plot)
    : QCPItemText(plot)
{
    setSelectable(false);
    setClipToAxisRect(false);
    position->setType(QCPItemPosition::ptViewportRatio);
    position->setCoords(0.5, 0.5);
    setTextAlignment(Qt::AlignCenter);
    setVisible(false);
}

void PlotMessage::setMessage(const QString& message)
{
    m_message = message;
    setText(message);
    setVisible(!message.isEmpty());
}

void PlotMessage::draw(QCPPainter* painter)
{
    mText = wrapped(m_message, mFont, std::max(mParentPlot->viewport().width() - 2 * margin, leastWidth));
    QCPItemText::draw(painter);
}

} // namespace headroom
