// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "units/bytes.h"

#include <qcustomplot.h>

#include <optional>
#include <vector>

namespace headroom {

/// What stands at the bars of a StagesPlot: the baseline's outline, the total above with its interval as a whisker, the
/// measured peak as a diamond, the frame of the selected stage. One item for all of them, since hundreds of items cost
/// more than the bars.
class StageMarks : public QCPAbstractItem
{
    Q_OBJECT

public:
    struct Mark
    {
        std::optional<Bytes> total;
        std::optional<Bytes> baseline;
        std::optional<Bytes> measured;
        std::optional<Interval> interval; ///< between what the total may be

        friend bool operator==(const Mark&, const Mark&) = default;
    };

    StageMarks(QCustomPlot* plot, QCPAxisRect* rect);

    void setMarks(std::vector<Mark> marks) { m_marks = std::move(marks); }
    [[nodiscard]] const std::vector<Mark>& marks() const { return m_marks; }
    void setCapacity(std::optional<Bytes> capacity) { m_capacity = capacity; }
    void setSelected(std::optional<int> stage) { m_selected = stage; }
    void setFont(const QFont& font) { m_font = font; }
    /// Pixels.
    void setBarWidth(double width) { m_barWidth = width; }

    double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override;

private:
    void drawSelection(QCPPainter& painter) const;
    void drawMark(QCPPainter& painter, std::size_t stage) const;
    void drawWhisker(QCPPainter& painter, double x, const Interval& interval) const;
    void drawTotals(QCPPainter& painter) const;
    [[nodiscard]] double pixelX(std::size_t stage) const;
    [[nodiscard]] double pixelY(Bytes bytes) const;

    QCPAxisRect* m_rect;
    std::vector<Mark> m_marks;
    std::optional<Bytes> m_capacity;
    std::optional<int> m_selected;
    QFont m_font;
    double m_barWidth = 40;
};

} // namespace headroom
