// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/plot_canvas.h"
#include "charts/plot_message.h"
#include "charts/range_gestures.h"
#include "charts/readout_item.h"
#include "charts/timeline_items.h"

#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// The drawing inside a TimelineChart: the stack, the strip of passes below it, capacity line, cursor and readout.
class TimelinePlot : public PlotCanvas
{
    Q_OBJECT

public:
    using Timeline = std::shared_ptr<const StepTimeline>;

    /// `range` is what is shown of the step, in its units of work.
    TimelinePlot(ViewState& range, QWidget* parent);

    void setTimeline(Timeline timeline);
    void setFaint(bool faint);
    void setCapacity(std::optional<Bytes> capacity, const QString& label);
    void setMessage(const QString& message);
    /// The span under the cursor; none: no cursor.
    void setCursorSpan(std::optional<std::size_t> span);

    [[nodiscard]] const Timeline& timeline() const { return m_timeline; }
    [[nodiscard]] std::optional<std::size_t> cursorSpan() const { return m_cursor; }
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    [[nodiscard]] bool showsCapacity() const { return m_showsCapacity; }
    [[nodiscard]] bool showsCapacityLabel() const { return m_showsCapacity && m_capacityLine.showsLabel(); }
    /// "backward of micro-batch 3, chunk 1 of 2".
    [[nodiscard]] QString passText(const StepTimeline::Pass& pass) const;

signals:
    void cursorMoved(); ///< by the pointer

protected:
    void applyTheme(const Theme& theme) override;

private:
    void fitValues();
    void fitCapacityLabel();
    void hover(QPointF pixel);
    void showCursor();
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsOf(const StepTimeline::Span& span) const;
    [[nodiscard]] QCPAxis* workAxis() const { return axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytesAxis() const { return axisRect()->axis(QCPAxis::atLeft); }

    TimelineStack* m_stack;
    ScheduleStrip* m_strip;
    CapacityLine m_capacityLine;
    RangeGestures m_gestures;
    QCPItemStraightLine* m_crosshair;
    ReadoutItem* m_readout;
    QCPItemText* m_unit;
    PlotMessage* m_message;
    Timeline m_timeline;
    std::optional<std::size_t> m_cursor;
    bool m_showsCapacity = false;
};

} // namespace headroom
