// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "replay/step_timeline.h"

#include <qcustomplot.h>

#include <memory>

namespace headroom {

/// What a timeline's spans hold, stacked by component. Where spans are narrower than a pixel the highest of them is
/// drawn: a peak is always seen. One item, since nine filled graphs would thin their lines each for itself and gape.
class TimelineStack : public QCPAbstractItem
{
    Q_OBJECT

public:
    TimelineStack(QCustomPlot* plot, QCPAxisRect* rect);

    void setTimeline(std::shared_ptr<const StepTimeline> timeline) { m_timeline = std::move(timeline); }
    /// Faint: of a plan that is no longer the one shown.
    void setFaint(bool faint) { m_isFaint = faint; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override;

private:
    struct Column
    {
        double left, right; ///< pixels
        std::size_t span;
    };
    [[nodiscard]] std::vector<Column> columns() const;

    QCPAxisRect* m_rect;
    std::shared_ptr<const StepTimeline> m_timeline;
    bool m_isFaint = false;
};

/// The passes below the rect, in the phases' colours, with the numbers of their micro-batches where there is room.
/// Later chunks are lighter, an image encoder is as light as the last one.
class ScheduleStrip : public QCPAbstractItem
{
    Q_OBJECT

public:
    ScheduleStrip(QCustomPlot* plot, QCPAxisRect* rect);

    void setTimeline(std::shared_ptr<const StepTimeline> timeline) { m_timeline = std::move(timeline); }
    void setFaint(bool faint) { m_isFaint = faint; }
    void setFont(const QFont& font) { m_font = font; }

    static constexpr int gap = 5; ///< between the rect and the strip, in pixels
    [[nodiscard]] int height() const { return QFontMetrics(m_font).height() + 2; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override;

private:
    [[nodiscard]] QColor colorOf(const StepTimeline::Pass& pass) const;

    QCPAxisRect* m_rect;
    std::shared_ptr<const StepTimeline> m_timeline;
    QFont m_font;
    bool m_isFaint = false;
};

} // namespace headroom
