// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/overlay_data.h"
#include "charts/plot_canvas.h"
#include "charts/plot_message.h"
#include "charts/range_gestures.h"
#include "charts/readout_item.h"

#include <optional>
#include <vector>

namespace headroom {

/// The drawing inside an OverlayChart.
class OverlayPlot : public PlotCanvas
{
    Q_OBJECT

public:
    OverlayPlot(ViewState& range, QWidget* parent);

    void setData(Overlay overlay);
    /// The step or the run under the cursor; none: no cursor.
    void setCursor(std::optional<double> key);
    [[nodiscard]] std::optional<double> cursor() const { return m_cursor; }
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    [[nodiscard]] QColor colorOf(const OverlayLine& line) const;
    [[nodiscard]] QString valueText(double value) const;
    /// What stands at a key: "step 12" or the run's name.
    [[nodiscard]] QString keyText(double key) const;
    [[nodiscard]] static std::optional<double> valueAt(const OverlayLine& line, double key, bool isOverRuns);

signals:
    void cursorMoved(); ///< by the pointer

protected:
    void applyTheme(const Theme& theme) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fill();
    void fitTicks();
    void showRange();
    void hover(QPointF pixel);
    void showCursor();
    [[nodiscard]] QCPAxis* keyAxis() const { return axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* valueAxis() const { return axisRect()->axis(QCPAxis::atLeft); }

    ViewState& m_range;
    QSharedPointer<QCPAxisTickerText> m_runTicker;
    std::vector<QCPGraph*> m_graphs; ///< as the data's lines
    QCPItemStraightLine* m_crosshair;
    QCPItemStraightLine* m_reference;
    CapacityLine m_capacity;
    QCPItemText* m_unit;
    PlotMessage* m_message;
    RangeGestures m_gestures;
    ReadoutItem* m_readout;
    Overlay m_data;
    std::optional<double> m_cursor;
};

} // namespace headroom
