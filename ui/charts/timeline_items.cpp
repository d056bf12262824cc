// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/timeline_items.h"

#include "theme/theme.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr double faintOpacity = 0.4;

QColor mixed(const QColor& a, const QColor& b, double shareOfB)
{
    const auto mix = [shareOfB](int x, int y) { return qRound(x + (y - x) * shareOfB); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

} // namespace

TimelineStack::TimelineStack(QCustomPlot* plot, QCPAxisRect* rect)
    : QCPAbstractItem(plot)
    , m_rect(rect)
{
    setSelectable(false);
    setClipToAxisRect(true);
    setClipAxisRect(rect);
}

std::vector<TimelineStack::Column> TimelineStack::columns() const
{
    const QCPAxis& axis = *m_rect->axis(QCPAxis::atBottom);
    const auto& spans = m_timeline->spans;
    const auto first = m_timeline->spanAt(std::max(axis.range().lower, 0.0)).value_or(spans.size());
    std::vector<Column> result;
    for (std::size_t i = first; i < spans.size() && spans[i].begin < axis.range().upper; ++i) {
        const double left = std::floor(axis.coordToPixel(spans[i].begin));
        const double right = std::floor(axis.coordToPixel(spans[i].end));
        if (right > left || result.empty()) {
            // The pixel where it begins may hold the ends of others.
            if (!result.empty() && result.back().right > left)
                result.back().right = left;
            result.push_back({left, std::max(right, left + 1), i});
        } else if (spans[i].allocated() > spans[result.back().span].allocated()) {
            if (result.back().right - 1 > result.back().left) { // wider than the pixel they share
                result.back().right -= 1;
                result.push_back({result.back().right, result.back().right + 1, i});
            } else {
                result.back().span = i;
            }
        }
    }
    return result;
}

void TimelineStack::draw(QCPPainter* painter)
{
    if (!m_timeline || m_timeline->spans.empty())
        return;
    const QCPAxis& axis = *m_rect->axis(QCPAxis::atLeft);
    const std::vector<Column> shown = columns();
    std::vector<double> floors(shown.size(), axis.coordToPixel(0));
    std::vector<Bytes> sums(shown.size());
    painter->setAntialiasing(false);
    painter->setPen(Qt::NoPen);
    painter->setOpacity(m_isFaint ? faintOpacity : 1);
    for (std::size_t part = 0; part < std::size_t{componentCount}; ++part) {
        QPolygonF outline;
        outline.reserve(static_cast<qsizetype>(4 * shown.size()));
        QPolygonF below;
        bool occurs = false;
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const Bytes bytes = m_timeline->spans[shown[i].span].components[part];
            occurs = occurs || bytes.value > 0;
            below << QPointF(shown[i].left, floors[i]) << QPointF(shown[i].right, floors[i]);
            sums[i] += bytes;
            floors[i] = std::round(axis.coordToPixel(sums[i].gib()));
            outline << QPointF(shown[i].left, floors[i]) << QPointF(shown[i].right, floors[i]);
        }
        if (!occurs)
            continue;
        std::reverse(below.begin(), below.end());
        painter->setBrush(Theme::current().components[part]);
        painter->drawPolygon(outline + below);
    }
    painter->setOpacity(1);
}

ScheduleStrip::ScheduleStrip(QCustomPlot* plot, QCPAxisRect* rect)
    : QCPAbstractItem(plot)
    , m_rect(rect)
{
    setSelectable(false);
    setClipToAxisRect(false);
}

QColor ScheduleStrip::colorOf(const StepTimeline::Pass& pass) const
{
    const Theme& theme = Theme::current();
    constexpr double lightest = 0.55;
    const double share = pass.isEncoder ? lightest
        : m_timeline->chunks > 1 && pass.microBatch >= 0
        ? lightest * pass.chunk / static_cast<double>(m_timeline->chunks - 1)
        : 0;
    return mixed(theme.phase(static_cast<std::size_t>(pass.phase)), theme.window, share);
}

void ScheduleStrip::draw(QCPPainter* painter)
{
    if (!m_timeline || m_timeline->passes.empty())
        return;
    const QCPAxis& axis = *m_rect->axis(QCPAxis::atBottom);
    const QRectF strip(m_rect->left(), m_rect->bottom() + gap, m_rect->width(), height());
    painter->save();
    painter->setClipRect(strip.adjusted(0, -1, 1, 1));
    painter->setOpacity(m_isFaint ? faintOpacity : 1);
    painter->setFont(m_font);
    const QFontMetricsF metrics(m_font);
    for (const StepTimeline::Pass& pass : m_timeline->passes) {
        const double left = axis.coordToPixel(pass.begin), right = axis.coordToPixel(pass.end);
        if (right < strip.left() || left > strip.right())
            continue;
        const QColor color = colorOf(pass);
        const double space = right - left >= 4 ? 1 : 0;
        const QRectF box(left, strip.top(), std::max(right - left - space, 1.0), strip.height());
        painter->setAntialiasing(box.width() > 6);
        painter->setPen(Qt::NoPen);
        painter->setBrush(color);
        box.width() > 6 ? painter->drawRoundedRect(box, 2.5, 2.5) : painter->drawRect(box);
        const QString number = pass.microBatch >= 0 ? QString::number(pass.microBatch + 1) : QString();
        if (metrics.horizontalAdvance(number) + 4 < box.width()) {
            const Theme& theme = Theme::current();
            const bool isReadable = contrastRatio(theme.window, color) >= contrastRatio(theme.text, color);
            painter->setPen(isReadable ? theme.window : theme.text);
            painter->drawText(box, Qt::AlignCenter, number);
        }
    }
    painter->restore();
}

} // namespace headroom
