// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/pair_marks.h"

#include "charts/gib_text.h"
#include "theme/theme.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

constexpr double beside = 0.2; ///< of a stage's room, from its middle to the middle of a bar

} // namespace

PairMarks::PairMarks(QCustomPlot* plot, QCPAxisRect* rect)
    : QCPAbstractItem(plot)
    , m_rect(rect)
{
    setSelectable(false);
    setClipToAxisRect(false); // a total above the highest bar may reach over the rect
}

double PairMarks::keyOf(const StagePairs& pairs, std::size_t stage, std::size_t side)
{
    const bool isAlone = !pairs.sides[0].isEstimated() || !pairs.sides[1].isEstimated();
    const double offset = isAlone ? 0 : side == 0 ? -beside : beside;
    return static_cast<double>(stage) + offset;
}

void PairMarks::draw(QCPPainter* painter)
{
    if (!m_pairs)
        return;
    const QCPAxis* stages = m_rect->axis(QCPAxis::atBottom);
    for (std::size_t side = 0; side < m_pairs->sides.size(); ++side) {
        const StagePairs::Side& run = m_pairs->sides[side];
        for (std::size_t stage = 0; stage < m_pairs->stageCount(); ++stage) {
            const double x = stages->coordToPixel(keyOf(*m_pairs, stage, side));
            if (stage < run.stages.size())
                drawBar(*painter, run.stages[stage], x);
            if (stage < run.measured.size() && run.measured[stage])
                drawMeasured(*painter, *run.measured[stage], x, side == 0);
        }
        if (run.peak)
            drawUnplaced(*painter, *run.peak, side == 0);
    }
}

void PairMarks::drawBar(QCPPainter& painter, const StageFootprint& stage, double x) const
{
    const Theme& theme = Theme::current();
    const double half = m_barWidth / 2;
    const double y = pixelY(stage.peakAllocated);
    painter.setAntialiasing(false);
    painter.setPen(QPen(theme.text, 1.6));
    painter.drawLine(QPointF(x - half - 2, y), QPointF(x + half + 2, y));
    const QFontMetricsF metrics(m_font);
    const QString total = gibNumber(stage.device);
    if (metrics.horizontalAdvance(total) > m_barWidth + 14)
        return;
    const bool isOver = m_pairs->capacity && stage.device > *m_pairs->capacity;
    painter.setFont(m_font);
    painter.setPen(isOver ? theme.error.text : theme.text);
    QRectF box(0, 0, metrics.horizontalAdvance(total) + 4, metrics.height());
    box.moveCenter({x, 0});
    box.moveBottom(pixelY(stage.device) - 2);
    painter.drawText(box, Qt::AlignCenter, total);
}

void PairMarks::drawMeasured(QCPPainter& painter, Bytes bytes, double x, bool isEarlier) const
{
    const Theme& theme = Theme::current();
    constexpr double reach = 5;
    const double y = pixelY(bytes);
    const std::array<QPointF, 4> corners{QPointF(x, y - reach), QPointF(x + reach, y), QPointF(x, y + reach),
                                         QPointF(x - reach, y)};
    painter.setAntialiasing(true);
    painter.setPen(QPen(isEarlier ? theme.text : theme.window, 1.2)); // stands out where it touches a bar
    painter.setBrush(isEarlier ? theme.window : theme.text);
    painter.drawConvexPolygon(corners.data(), static_cast<int>(corners.size()));
}

void PairMarks::drawUnplaced(QCPPainter& painter, Bytes bytes, bool isEarlier) const
{
    const Theme& theme = Theme::current();
    QPen pen(isEarlier ? theme.mutedText : theme.text, 1.2);
    pen.setDashPattern({6, 3});
    painter.setAntialiasing(false);
    painter.setPen(pen);
    const double y = pixelY(bytes);
    painter.drawLine(QPointF(m_rect->left(), y), QPointF(m_rect->right(), y));
}

double PairMarks::pixelY(Bytes bytes) const
{
    return m_rect->axis(QCPAxis::atLeft)->coordToPixel(bytes.gib());
}

} // namespace headroom
