// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peak_grid.h"
#include "units/bytes.h"

#include <tl/expected.hpp>

#include <QFutureWatcher>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>

class QComboBox;

namespace headroom {

class ChartTitle;
class RanksPlot;

/// The peak of every rank as a heat map, per phase or along the steps, against what one GPU has. A click chooses the
/// rank for all charts, a double click shows the line. Keys: Up/Down choose, Escape takes the choice back, Return
/// activates the chosen rank's peak.
class RanksChart : public QWidget
{
    Q_OBJECT

public:
    explicit RanksChart(ViewState& view, QWidget* parent = nullptr);
    ~RanksChart() override;

    /// Null: nothing open. The grid is made on another thread when the chart is to be seen.
    void setRun(std::shared_ptr<const Run> run);
    void setCapacity(std::optional<Bytes> capacity);
    /// Columns are groups of steps, else phases.
    void setBySteps(bool isBySteps);

    [[nodiscard]] const PeakGrid* grid() const { return m_grid.get(); }
    [[nodiscard]] bool isPreparing() const { return m_isPreparing || m_settle.isActive(); }
    /// Rank, phase or steps, bytes and line of every cell as tab-separated text.
    [[nodiscard]] QString values() const;
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void recordActivated(qint64 record);

protected:
    void showEvent(QShowEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    using Grid = std::shared_ptr<const PeakGrid>;

    void prepare();
    void rangeChanged();
    void adopt();
    void chooseRank(int rank);
    void moveRank(int rows);
    void updateTexts();
    [[nodiscard]] GridOptions options() const;

    ViewState& m_view;
    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const Run> m_gathered; ///< the run m_watcher's grid is of
    Grid m_grid;
    QFutureWatcher<Grid> m_watcher;
    QTimer m_settle; ///< while the steps in view are dragged along
    bool m_isPreparing = false;
    bool m_isOutdated = false;
    bool m_isBySteps = false;
    ChartTitle* m_title;
    QComboBox* m_columns;
    RanksPlot* m_plot;
};

} // namespace headroom
