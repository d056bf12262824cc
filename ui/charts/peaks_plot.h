// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/marker_items.h"
#include "charts/metric_strips.h"
#include "charts/overview_strip.h"
#include "charts/peak_series.h"
#include "charts/plot_canvas.h"
#include "charts/plot_message.h"
#include "charts/range_gestures.h"
#include "charts/readout_item.h"
#include "runlog/run.h"

#include <QPointer>

#include <memory>

namespace headroom {

/// The drawing inside a PeaksChart: lines, capacity, crosshair, markers, what else the steps say, overview.
class PeaksPlot : public PlotCanvas
{
    Q_OBJECT

public:
    /// A line as it is drawn; into the series.
    struct Drawn
    {
        Channel channel;
        std::optional<std::uint8_t> phase; ///< none: over phases
        QString name;
        const StepLine* line = nullptr;
        QCPGraph* graph = nullptr;
        QColor color;
    };

    explicit PeaksPlot(QWidget* parent);

    void setViewState(ViewState* view);
    void setSeries(std::shared_ptr<const Run> run, std::shared_ptr<const PeakSeries> series);
    /// False: nothing changed, as on most slider ticks.
    bool setCapacity(std::optional<Bytes> capacity, const QString& label);
    /// Shown in place of the chart; empty: the chart.
    void setMessage(const QString& message);

    /// All lines there are, hidden ones too: phases, reserved, then those the user added.
    [[nodiscard]] const std::vector<Drawn>& lines() const { return m_drawn; }
    [[nodiscard]] bool isShown(const Drawn& drawn) const { return !m_view || m_view->isShown(drawn.channel); }
    [[nodiscard]] std::optional<Bytes> capacity() const { return m_capacityLine.capacity(); }
    /// Puts the cursor where it stays when the pointer leaves; keeps it in sight.
    void pinCursor(std::optional<qint64> step);
    /// The largest visible value held at a step: index into the Run.
    [[nodiscard]] std::optional<qint64> recordAt(std::int64_t step) const;
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    [[nodiscard]] const ReadoutItem* differences() const { return m_markers.box(); }
    [[nodiscard]] int stripCount() const { return m_strips.stripCount(); }

signals:
    void recordActivated(qint64 recordIndex);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void applyTheme(const Theme& theme) override;

private:
    void setUpItems();
    void rebuildGraphs();
    void addLine(const Channel& channel, std::optional<std::uint8_t> phase, const QString& name, const StepLine& line);
    void colourLines(const Theme& theme);
    void stylePens();
    void showRange();
    void showChannels();
    void showStrips();
    void showScale();
    void showCursor();
    void showMarkers();
    void fitValues();
    void hover(QPointF pixel);
    void click(QPointF pixel);
    void switchOver(ViewState::Switch which);
    [[nodiscard]] std::int64_t stepAt(double pixelX) const;
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsAt(std::int64_t step) const;
    [[nodiscard]] std::vector<ReadoutItem::Row> differenceRows(std::int64_t a, std::int64_t b) const;
    [[nodiscard]] QCPAxis* stepAxis() const { return m_rect->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytesAxis() const { return m_rect->axis(QCPAxis::atLeft); }

    QCPAxisRect* m_rect;
    QCPMarginGroup m_margins;
    OverviewStrip m_overview;
    MetricStrips m_strips;
    RangeGestures m_gestures;
    CapacityLine m_capacityLine;
    MarkerItems m_markers;
    QCPItemText* m_unit;
    PlotMessage* m_message;
    QCPItemStraightLine* m_cursorLine;
    ReadoutItem* m_readout;
    std::vector<Drawn> m_drawn;
    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const PeakSeries> m_series;
    std::optional<qint64> m_pinned;
    QPointer<ViewState> m_view;
};

} // namespace headroom
