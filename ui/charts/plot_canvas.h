// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace headroom {

struct Theme;

/// A QCustomPlot as all our charts want it: fast wide lines, queued replots, the theme's colours, the screen's pixel
/// ratio (QCustomPlot 2.1 takes it once), and a buffered layer for what follows the pointer.
class PlotCanvas : public QCustomPlot
{
    Q_OBJECT

public:
    explicit PlotCanvas(QWidget* parent);

    void scheduleReplot() { replot(QCustomPlot::rpQueuedReplot); }
    [[nodiscard]] QCPLayer* cursorLayer() const { return m_cursorLayer; }

    /// Axis and tick label text, smaller than the window's.
    [[nodiscard]] QFont smallFont() const;
    [[nodiscard]] QFont smallBoldFont() const;

    /// Draws the buffers at `ratio` until the next call with 0, which goes back to the screen's own.
    void setExportPixelRatio(double ratio);

    /// Flat style: no tick marks, grid behind, colours and fonts set.
    void styleAxes(const Theme& theme, QCPAxis* keyAxis, QCPAxis* valueAxis) const;

protected:
    /// Called by the most derived constructor and whenever colours or font change.
    virtual void applyTheme(const Theme& theme);

    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void followScreen();

    QCPLayer* m_cursorLayer = nullptr;
    double m_exportRatio = 0;
};

/// A text at a place relative to the plot's axis rect, such as the unit or a message in the middle.
[[nodiscard]] QCPItemText* makePlotText(QCustomPlot* plot);
/// One above the value axis, for its unit.
[[nodiscard]] QCPItemText* makeUnitText(QCustomPlot* plot);

} // namespace headroom
