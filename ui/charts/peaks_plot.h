// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/overview_strip.h"
#include "charts/peak_series.h"
#include "charts/plot_canvas.h"
#include "charts/range_gestures.h"
#include "charts/readout_item.h"
#include "runlog/run.h"

#include <QPointer>

#include <memory>
#include <set>

namespace headroom {

/// The drawing inside a PeaksChart: lines, capacity, crosshair, overview.
class PeaksPlot : public PlotCanvas
{
    Q_OBJECT

public:
    explicit PeaksPlot(QWidget* parent);

    void setViewState(ViewState* view);
    void setSeries(std::shared_ptr<const Run> run, std::shared_ptr<const PeakSeries> series);
    /// False: nothing changed, as on most slider ticks.
    bool setCapacity(std::optional<Bytes> capacity, const QString& label);
    /// Shown in place of the chart; empty: the chart.
    void setMessage(const QString& message);
    void setPhaseVisible(std::uint8_t phase, bool visible);
    void setReservedVisible(bool visible);
    [[nodiscard]] bool isPhaseVisible(std::uint8_t phase) const { return !m_hiddenPhases.contains(phase); }
    [[nodiscard]] bool isReservedVisible() const { return m_isReservedVisible; }

    [[nodiscard]] std::optional<Bytes> capacity() const { return m_capacityLine.capacity(); }
    /// Puts the cursor where it stays when the pointer leaves; keeps it in sight.
    void pinCursor(std::optional<qint64> step);
    /// The largest visible value held at a step: index into the Run.
    [[nodiscard]] std::optional<qint64> recordAt(std::int64_t step) const;
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }

signals:
    void recordActivated(qint64 recordIndex);

protected:
    void applyTheme(const Theme& theme) override;

private:
    void rebuildGraphs();
    void stylePens();
    void showRange();
    void showCursor();
    void fitValues();
    void hover(QPointF pixel);
    void click(QPointF pixel);
    [[nodiscard]] std::int64_t stepAt(double pixelX) const;
    [[nodiscard]] std::vector<const StepLine*> visibleLines() const;
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsAt(std::int64_t step) const;
    [[nodiscard]] QCPAxis* stepAxis() const { return m_rect->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytesAxis() const { return m_rect->axis(QCPAxis::atLeft); }

    QCPAxisRect* m_rect;
    QCPMarginGroup m_margins;
    OverviewStrip m_overview;
    RangeGestures m_gestures;
    CapacityLine m_capacityLine;
    QCPItemText* m_unit;
    QCPItemText* m_message;
    QCPItemStraightLine* m_cursorLine;
    ReadoutItem* m_readout;
    std::vector<QCPGraph*> m_phaseGraphs; ///< as m_series->phases
    QCPGraph* m_reservedGraph = nullptr;
    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const PeakSeries> m_series;
    std::optional<qint64> m_pinned;
    std::set<std::uint8_t> m_hiddenPhases;
    bool m_isReservedVisible = true;
    QPointer<ViewState> m_view;
};

} // namespace headroom
