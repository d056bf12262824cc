// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/view_state.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointF>
#include <QPointer>

class QCPAxisRect;
class QCPItemRect;
class QMouseEvent;
class QWheelEvent;

namespace headroom {

class PlotCanvas;
struct Theme;

/// The pointer on a chart over steps: the wheel zooms about the pointer, dragging pans, Shift and dragging zooms into
/// the band, a double click shows everything. Sets a ViewState; draws only the band.
class RangeGestures : public QObject
{
    Q_OBJECT

public:
    /// Watches `plot` and reads steps off the bottom axis of `rect`.
    RangeGestures(PlotCanvas& plot, QCPAxisRect& rect);

    void setViewState(ViewState* view) { m_view = view; }
    /// Counts so many pixels below the rect as part of it.
    void setReachBelow(int pixels) { m_reachBelow = pixels; }
    void applyTheme(const Theme& theme);

    /// For continuous input such as wheels: steps within half a second are one stop for ViewState::back().
    class Burst
    {
    public:
        [[nodiscard]] ViewState::Gesture next();

    private:
        QElapsedTimer m_last;
    };

signals:
    /// The pointer is over the axis rect, nothing pressed.
    void hovered(QPointF pixel);
    void left();
    /// Pressed and released in one place.
    void clicked(QPointF pixel);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Drag { None, Undecided, Pan, Band };

    bool press(const QMouseEvent& event);
    bool move(const QMouseEvent& event);
    bool release(const QMouseEvent& event);
    bool wheel(const QWheelEvent& event);
    void abandon();
    [[nodiscard]] bool contains(QPointF pixel) const;
    [[nodiscard]] double stepAt(double pixelX) const;

    PlotCanvas& m_plot;
    QCPAxisRect& m_rect;
    QCPItemRect* m_band;
    QPointer<ViewState> m_view;
    int m_reachBelow = 0;
    Drag m_drag = Drag::None;
    bool m_isBandDrag = false;
    QPointF m_pressed;
    StepRange m_pressedRange;
    Burst m_wheelBurst;
};

} // namespace headroom
