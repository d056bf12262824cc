// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/framed_chart.h"
#include "charts/overlay_data.h"

namespace headroom {

class OverlayPlot;
class ViewState;

/// Lines of several runs on the same axes, over steps or over the runs themselves. Keys: Left/Right move the cursor,
/// Escape removes it, + and - zoom, Home shows all.
class OverlayChart : public FramedChart
{
    Q_OBJECT

public:
    explicit OverlayChart(QWidget* parent = nullptr);
    ~OverlayChart() override;

    void setData(Overlay overlay); ///< null: nothing to show
    [[nodiscard]] const Overlay& data() const { return m_data; }
    [[nodiscard]] OverlayPlot* plot() const { return m_plot; }

    /// Tab-separated: run, name, step or run, value in the unit of the chart.
    [[nodiscard]] QString values() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void updateTexts() override;

private:
    void moveCursor(int direction);

    ViewState* m_range;
    OverlayPlot* m_plot;
    Overlay m_data;
};

} // namespace headroom
