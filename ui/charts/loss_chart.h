// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <tl/expected.hpp>

#include <QWidget>

#include <memory>
#include <vector>

namespace headroom {

class ChartLegend;
class ChartTitle;
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
class LossChart : public QWidget
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

    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// Tab-separated: step, both losses and the second less the first, a line for each common step.
    [[nodiscard]] QString values() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void moveCursor(int direction);
    void updateTexts();
    void fitLegend();

    ViewState* m_range;
    ChartTitle* m_title;
    LossPlot* m_plot;
    ChartLegend* m_legend;
    Curves m_curves;
};

} // namespace headroom
