// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/overlay_data.h"

#include <tl/expected.hpp>

#include <QWidget>

namespace headroom {

class ChartLegend;
class ChartTitle;
class OverlayPlot;
class ViewState;

/// Lines of several runs on the same axes, over steps or over the runs themselves. Keys: Left/Right move the cursor,
/// Escape removes it, + and - zoom, Home shows all.
class OverlayChart : public QWidget
{
    Q_OBJECT

public:
    explicit OverlayChart(QWidget* parent = nullptr);
    ~OverlayChart() override;

    void setData(Overlay overlay); ///< null: nothing to show
    [[nodiscard]] const Overlay& data() const { return m_data; }
    [[nodiscard]] OverlayPlot* plot() const { return m_plot; }

    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// Tab-separated: run, name, step or run, value in the unit of the chart.
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
    OverlayPlot* m_plot;
    ChartLegend* m_legend;
    Overlay m_data;
};

} // namespace headroom
