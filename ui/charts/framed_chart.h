// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/chart_legend.h"

#include <tl/expected.hpp>

#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace headroom {

class ChartTitle;
class PlotCanvas;
class ViewState;

/// A chart that compares runs: title, plot and legend below each other, picture and values to take away. Where room is
/// scarce the plot gets that of title and legend; the readout names the lines too.
class FramedChart : public QWidget
{
    Q_OBJECT

public:
    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// What is shown, tab-separated, with a line of headings.
    [[nodiscard]] virtual QString values() const = 0;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    /// `fileName` is proposed for a picture.
    FramedChart(const QString& title, QString fileName, QWidget* parent);

    /// To be called once, by the constructor.
    void setPlot(PlotCanvas* plot);
    [[nodiscard]] ChartTitle& title() const { return *m_title; }
    void setLegend(std::vector<ChartLegend::Entry> entries);
    /// Legend, subtitle and what a screen reader tells, anew; also when the colours changed.
    virtual void updateTexts() = 0;

    /// Plus, minus and Home; false: another key.
    static bool zoomBy(const QKeyEvent& event, ViewState& range, double centre);
    /// Moves the range, its width kept, until `place` is in it.
    static void bringIntoView(ViewState& range, double place);

    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitLegend();

    QString m_fileName;
    ChartTitle* m_title;
    PlotCanvas* m_plot = nullptr;
    ChartLegend* m_legend;
    QVBoxLayout* m_layout;
};

} // namespace headroom
