// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/plot_canvas.h"
#include "charts/plot_message.h"
#include "charts/readout_item.h"
#include "charts/stage_marks.h"
#include "footprint/footprint.h"

#include <array>
#include <optional>
#include <vector>

namespace headroom {

/// The parts a stage's bar is stacked of: the components, then what the allocator reserves beyond what is allocated.
inline constexpr std::size_t stackPartCount = std::size_t{componentCount} + 1;
/// One bar a part, each on top of the one before; they belong to the plot.
[[nodiscard]] std::array<QCPBars*, stackPartCount> makeStackBars(QCPAxis* stageAxis, QCPAxis* bytesAxis);
using StackParts = std::array<Bytes, stackPartCount>;

[[nodiscard]] StackParts stackParts(const StageFootprint& stage);
/// "Optimizer", for legend and readout.
[[nodiscard]] QString stackPartName(std::size_t part);
[[nodiscard]] QColor stackPartColor(std::size_t part);
/// "stage 3" under a bar, or the number alone, thinned, where bars stand close.
[[nodiscard]] QSharedPointer<QCPAxisTicker> makeStageTicker(const PlotCanvas& plot);

/// The drawing inside a StagesChart. Bars and marks are made once and refilled.
class StagesPlot : public PlotCanvas
{
    Q_OBJECT

public:
    explicit StagesPlot(QWidget* parent);

    /// Keeps what it needs of both; null: nothing to show.
    void setFootprint(const Footprint* current, const Footprint* baseline);
    void setMeasured(std::vector<std::optional<Bytes>> perStage);
    /// False: nothing changed, as on most slider ticks.
    bool setCapacity(std::optional<Bytes> capacity, const QString& label);
    void setSelected(std::optional<int> stage);
    void setMessage(const QString& message);

    [[nodiscard]] std::size_t stageCount() const { return m_stages.size(); }
    [[nodiscard]] const std::vector<StackParts>& stages() const { return m_stages; }
    [[nodiscard]] const std::vector<StageMarks::Mark>& marks() const { return m_marks->marks(); }
    [[nodiscard]] const StageMarks::Mark& mark(std::size_t stage) const { return m_marks->marks()[stage]; }
    [[nodiscard]] std::optional<Bytes> capacity() const { return m_capacityLine.capacity(); }
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    /// Whether any stage has some of this part.
    [[nodiscard]] bool occurs(std::size_t part) const { return m_occurs[part]; }

signals:
    void stageClicked(int stage);

protected:
    void applyTheme(const Theme& theme) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void refill();
    void updateMarks();
    void fitValues();
    [[nodiscard]] bool isCapacityLabelCrowded(double upperGib) const;
    void fitBarWidth();
    void showReadout();
    [[nodiscard]] std::optional<int> stageAt(QPointF pixel) const;
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsOf(std::size_t stage) const;
    [[nodiscard]] QCPAxis* stageAxis() const { return axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytesAxis() const { return axisRect()->axis(QCPAxis::atLeft); }

    std::array<QCPBars*, stackPartCount> m_bars{};
    std::array<bool, stackPartCount> m_occurs{};
    CapacityLine m_capacityLine;
    StageMarks* m_marks;
    ReadoutItem* m_readout;
    QCPItemText* m_unit;
    PlotMessage* m_message;
    std::vector<StackParts> m_stages;
    std::vector<Bytes> m_totals;
    std::vector<std::optional<Interval>> m_intervals;
    std::vector<StackParts> m_baselineStages;
    std::vector<Bytes> m_baselineTotals;
    std::vector<std::optional<Bytes>> m_measured;
    std::optional<int> m_hovered;
};

} // namespace headroom
