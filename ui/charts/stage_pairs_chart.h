// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/stage_pairs.h"

#include <tl/expected.hpp>

#include <QWidget>

namespace headroom {

class ChartLegend;
class ChartTitle;
class StagePairsPlot;

/// Two runs by pipeline stage on shared axes: stacked bars side by side, measured peaks as diamonds over estimates.
/// Keys: Left/Right choose a stage to read out, Escape none.
class StagePairsChart : public QWidget
{
    Q_OBJECT

public:
    explicit StagePairsChart(QWidget* parent = nullptr);
    ~StagePairsChart() override;

    void setPairs(std::shared_ptr<const StagePairs> pairs); ///< null: nothing to show
    [[nodiscard]] const std::shared_ptr<const StagePairs>& pairs() const { return m_pairs; }
    [[nodiscard]] StagePairsPlot* plot() const { return m_plot; }

    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// Tab-separated: run, stage, allocated, reserved, device and measured bytes.
    [[nodiscard]] QString values() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void updateTexts();
    void fitLegend();

    ChartTitle* m_title;
    StagePairsPlot* m_plot;
    ChartLegend* m_legend;
    std::shared_ptr<const StagePairs> m_pairs;
};

} // namespace headroom
