// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peak_grid.h"
#include "charts/plot_canvas.h"
#include "charts/plot_message.h"
#include "charts/readout_item.h"
#include "units/bytes.h"

#include <memory>
#include <optional>
#include <vector>

namespace headroom {

/// The drawing inside a RanksChart: a cell per rank and column, coloured by its share of what one GPU has.
class RanksPlot : public PlotCanvas
{
    Q_OBJECT

public:
    explicit RanksPlot(QWidget* parent);

    /// Null: nothing.
    void setGrid(std::shared_ptr<const Run> run, std::shared_ptr<const PeakGrid> grid);
    void setCapacity(std::optional<Bytes> capacity);
    void setChosenRank(std::optional<int> rank);
    void setMessage(const QString& message);

    [[nodiscard]] const ReadoutItem* readout() const { return m_readout; }
    /// Cells that carry their amount as text, and the phases' names as far as they are shown.
    [[nodiscard]] std::size_t numberCount() const { return m_numbers.size(); }
    [[nodiscard]] const QStringList& shownNames() const { return m_names; }
    /// The colour of an amount.
    [[nodiscard]] QColor colorOf(Bytes bytes) const;
    /// The middle of a cell in pixels.
    [[nodiscard]] QPointF centreOf(std::size_t row, std::size_t column) const;

signals:
    /// A row was clicked.
    void rankClicked(int rank);
    void recordActivated(qint64 record);

protected:
    void applyTheme(const Theme& theme) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Cell
    {
        std::size_t row, column;
    };

    void fill();
    void setTicks();
    void setNumbers();
    void fitCells();
    [[nodiscard]] QStringList phaseNames() const;
    [[nodiscard]] bool hasRoomForNumbers() const;
    void outline();
    void read(std::optional<Cell> cell, QPointF pixel);
    [[nodiscard]] std::optional<Cell> cellAt(QPointF pixel) const;
    [[nodiscard]] double fullGib() const;
    [[nodiscard]] bool isByPhase() const { return m_grid && m_grid->columns == m_grid->phases.size(); }
    [[nodiscard]] QString columnName(std::size_t column) const;

    QCPColorMap* m_map;
    QCPColorScale* m_scale;
    QCPItemRect* m_chosen;
    PlotMessage* m_message;
    ReadoutItem* m_readout;
    QStringList m_names; ///< of the phases, as they are shown
    std::vector<QCPItemText*> m_numbers;
    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const PeakGrid> m_grid;
    std::optional<Bytes> m_capacity;
    std::optional<int> m_chosenRank;
};

} // namespace headroom
