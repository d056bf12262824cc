// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/framed_chart.h"

#include <memory>
#include <vector>

namespace headroom {

class LossPlot;
class ViewState;

/// The losses of two runs at the steps they have in common.
struct LossCurves
{
    QString firstName, secondName;
    std::vector<double> steps; ///< ascending; the other two are as long
    std::vector<double> first, second;
    double tolerance = 0; ///< of one step's difference
};

/// The losses of two runs over their steps, and below on the same steps their difference with the tolerance. Keys:
/// Left/Right move the cursor, Escape removes it, + and - zoom, Home shows all.
class LossChart : public FramedChart
{
    Q_OBJECT

public:
    using Curves = std::shared_ptr<const LossCurves>;

    explicit LossChart(QWidget* parent = nullptr);
    ~LossChart() override;

    void setCurves(Curves curves); ///< null: nothing to show
    [[nodiscard]] const Curves& curves() const { return m_curves; }
    /// What is shown of the steps.
    [[nodiscard]] ViewState& range() const { return *m_range; }

    /// Tab-separated: step, both losses and the second less the first, a line for each common step.
    [[nodiscard]] QString values() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void updateTexts() override;

private:
    void moveCursor(int direction);

    ViewState* m_range;
    LossPlot* m_plot;
    Curves m_curves;
};

} // namespace headroom
