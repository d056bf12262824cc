// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/loss_chart.h"
#include "charts/plot_canvas.h"
#include "charts/range_gestures.h"
#include "charts/readout_item.h"

#include <array>
#include <optional>

namespace headroom {

/// The drawing inside a LossChart: losses above, their difference below, one cursor through both.
class LossPlot : public PlotCanvas
{
    Q_OBJECT

public:
    LossPlot(ViewState& range, QWidget* parent);

    void setCurves(LossChart::Curves curves);
    /// The common step under the cursor, by its place; none: no cursor.
    void setCursor(std::optional<std::size_t> place);
    [[nodiscard]] std::optional<std::size_t> cursor() const { return m_cursor; }
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    /// Of the first run, the second, and the difference.
    [[nodiscard]] static std::array<QColor, 3> colors();

signals:
    void cursorMoved(); ///< by the pointer

protected:
    void applyTheme(const Theme& theme) override;

private:
    void fitTicks();
    void showRange();
    void fitValues();
    void hover(QPointF pixel);
    void showCursor();
    [[nodiscard]] QCPAxis* stepAxis() const { return axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* lossAxis() const { return axisRect()->axis(QCPAxis::atLeft); }
    [[nodiscard]] QCPAxis* lowerStepAxis() const { return m_differenceRect->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* differenceAxis() const { return m_differenceRect->axis(QCPAxis::atLeft); }

    ViewState& m_range;
    QCPAxisRect* m_differenceRect;
    QCPMarginGroup* m_margins;
    std::array<QCPGraph*, 3> m_graphs{}; ///< as colors()
    std::array<QCPItemStraightLine*, 2> m_tolerance{};
    std::array<QCPItemStraightLine*, 2> m_crosshair{};
    RangeGestures m_gestures;
    ReadoutItem* m_readout;
    LossChart::Curves m_curves;
    std::optional<std::size_t> m_cursor;
};

} // namespace headroom
