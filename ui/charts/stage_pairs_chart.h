// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/framed_chart.h"
#include "charts/stage_pairs.h"

namespace headroom {

class StagePairsPlot;

/// Two runs by pipeline stage on shared axes: stacked bars side by side, measured peaks as diamonds over estimates.
/// Keys: Left/Right choose a stage to read out, Escape none.
class StagePairsChart : public FramedChart
{
    Q_OBJECT

public:
    explicit StagePairsChart(QWidget* parent = nullptr);
    ~StagePairsChart() override;

    void setPairs(std::shared_ptr<const StagePairs> pairs); ///< null: nothing to show
    [[nodiscard]] const std::shared_ptr<const StagePairs>& pairs() const { return m_pairs; }
    [[nodiscard]] StagePairsPlot* plot() const { return m_plot; }

    /// Tab-separated: run, stage, allocated, reserved, device and measured bytes.
    [[nodiscard]] QString values() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void updateTexts() override;

private:
    StagePairsPlot* m_plot;
    std::shared_ptr<const StagePairs> m_pairs;
};

} // namespace headroom
