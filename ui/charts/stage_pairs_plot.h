// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/capacity_line.h"
#include "charts/plot_canvas.h"
#include "charts/readout_item.h"
#include "charts/stage_pairs.h"
#include "charts/stages_plot.h"

#include <array>
#include <optional>

namespace headroom {

/// What stands at the bars of a StagePairsPlot: the edge of what is allocated, the total, measured peaks as diamonds.
class PairMarks;

/// The drawing inside a StagePairsChart: the bars of both runs side by side at every stage, the earlier one's paler.
class StagePairsPlot : public PlotCanvas
{
    Q_OBJECT

public:
    explicit StagePairsPlot(QWidget* parent);

    void setPairs(std::shared_ptr<const StagePairs> pairs);
    void setCursor(std::optional<int> stage);
    [[nodiscard]] std::optional<int> cursor() const { return m_cursor; }
    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    /// Whether any stage of either run has some of this part.
    [[nodiscard]] bool occurs(std::size_t part) const { return m_occurs[part]; }
    [[nodiscard]] QColor colorOf(std::size_t part, std::size_t side) const;

signals:
    void cursorMoved(); ///< by the pointer

protected:
    void applyTheme(const Theme& theme) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void fitValues();
    void fitBarWidth();
    void showReadout();
    [[nodiscard]] std::vector<ReadoutItem::Row> rowsOf(std::size_t stage) const;
    [[nodiscard]] QCPAxis* stageAxis() const { return axisRect()->axis(QCPAxis::atBottom); }
    [[nodiscard]] QCPAxis* bytesAxis() const { return axisRect()->axis(QCPAxis::atLeft); }

    std::array<std::array<QCPBars*, stackPartCount>, 2> m_bars{};
    std::array<bool, stackPartCount> m_occurs{};
    CapacityLine m_capacity;
    PairMarks* m_marks;
    QCPItemText* m_unit;
    ReadoutItem* m_readout;
    std::shared_ptr<const StagePairs> m_pairs;
    std::optional<int> m_cursor;
};

} // namespace headroom
