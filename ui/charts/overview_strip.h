// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peak_series.h"
#include "charts/range_gestures.h"
#include "workspace/view_state.h"

#include <QObject>
#include <QPointer>

class QCPAxisRect;
class QCPGraph;
class QCPItemRect;
class QCPMarginGroup;

namespace headroom {

class PlotCanvas;
struct Theme;

/// The whole run in a low strip under a chart, with the visible part as a window that can be dragged, resized at its
/// edges, or put elsewhere by a click.
class OverviewStrip : public QObject
{
    Q_OBJECT

public:
    /// Adds its axis rect to `plot`'s layout below what is there, aligned by `margins`.
    OverviewStrip(PlotCanvas& plot, QCPMarginGroup& margins);

    void setViewState(ViewState* view);
    /// Reduced to the strip's columns; spikes stay.
    void setLine(const StepLine& line);
    void setVisible(bool visible);
    void applyTheme(const Theme& theme, const QColor& lineColor);

    [[nodiscard]] QCPAxisRect* axisRect() const { return m_rect; }
    [[nodiscard]] const QCPGraph* graph() const { return m_graph; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Drag { None, Window, FirstEdge, LastEdge };

    void showRange();
    bool press(QPointF pixel);
    bool drag(QPointF pixel);
    [[nodiscard]] Drag dragAt(QPointF pixel) const;
    [[nodiscard]] bool contains(QPointF pixel) const;
    [[nodiscard]] double stepAt(double pixelX) const;

    PlotCanvas& m_plot;
    QCPAxisRect* m_rect;
    QCPGraph* m_graph;
    QCPItemRect* m_window;
    QCPItemRect* m_frame;
    QPointer<ViewState> m_view;
    Drag m_drag = Drag::None;
    bool m_isFirstMove = false;
    double m_grip = 0; ///< steps from the window's first step to where it was gripped
    RangeGestures::Burst m_wheelBurst;
};

} // namespace headroom
