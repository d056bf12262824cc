// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/peak_series.h"
#include "runlog/run.h"
#include "units/bytes.h"
#include "workspace/view_state.h"

#include <tl/expected.hpp>

#include <QFutureWatcher>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QAction;
class QHBoxLayout;
class QToolButton;

namespace headroom {

class ChartLegend;
class ChartTitle;
class PeaksPlot;

/// Measured peaks per phase over the steps of a run, with the capacity line, a crosshair that reads the last value at
/// or before it, and an overview strip. Keys: Left/Right move the cursor by a step (Shift: ten), +/− zoom, Home shows
/// all, Backspace goes back, A and B set the markers, Return activates the record at the cursor.
class PeaksChart : public QWidget
{
    Q_OBJECT

public:
    explicit PeaksChart(QWidget* parent = nullptr);
    ~PeaksChart() override;

    /// Null: nothing open. Large runs are prepared on another thread; the chart keeps what it shows until then.
    void setRun(std::shared_ptr<const Run> run);
    /// `label` stands at the line; empty: "capacity 80.0 GiB".
    void setCapacity(std::optional<Bytes> capacity, const QString& label = {});
    /// Shared by the window's charts; the chart has one of its own until then. Null: its own again.
    void setViewState(ViewState* view);
    [[nodiscard]] ViewState* viewState() const { return m_view; }

    [[nodiscard]] const PeakSeries& series() const { return *m_series; }
    [[nodiscard]] bool isPreparing() const { return m_isPreparing; }

    void setPhaseVisible(std::uint8_t phase, bool visible);
    void setReservedVisible(bool visible);
    /// A button of the action in the chart's lower right corner.
    void addSwitch(QAction* action);
    /// Marker A or B to the cursor, or away when it stands there.
    void toggleMarker(ViewState::Marker which);

    /// The chart as people see it, title and legend included, at `scale` device pixels per pixel.
    [[nodiscard]] QImage image(double scale = 2);
    /// PNG, PDF, or SVG where Qt has it, by the file's suffix. The error is a sentence for the user.
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// The visible steps as tab-separated text: step, bytes of every phase, reserved bytes, lines the user added, what
    /// else the steps say, line.
    [[nodiscard]] QString values() const;
    /// The same as CSV. The error is a sentence for the user.
    [[nodiscard]] tl::expected<void, QString> saveValues(const QString& path) const;
    /// Asks for a name first.
    void askAndSaveImage();
    void askAndSaveValues();
    void copyImage();

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    /// A point was clicked: index into the Run.
    void recordActivated(qint64 recordIndex);
    /// A run is on the chart.
    void seriesChanged();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Prepared
    {
        std::shared_ptr<const Run> run;
        std::shared_ptr<const PeakSeries> series;
    };

    void prepare();
    void adopt(const Prepared& prepared);
    void moveCursor(int points);
    void activateCursor();
    void updateLegend();
    void updateChannels();
    [[nodiscard]] QString values(QChar separator) const;
    void updateTexts();
    [[nodiscard]] QString subtitle() const;
    [[nodiscard]] QString description() const;

    std::shared_ptr<const Run> m_run; ///< the newest
    std::shared_ptr<const Run> m_shown; ///< the one m_series is of
    std::shared_ptr<const PeakSeries> m_series;
    std::vector<Channel> m_added; ///< the channels m_series was asked for, or will be
    QFutureWatcher<Prepared> m_watcher;
    bool m_isPreparing = false; ///< until the series has been adopted, not only gathered
    bool m_outdated = false; ///< a newer run or rank came while one was being prepared
    ViewState* m_ownView = nullptr;
    ViewState* m_view = nullptr;
    ChartTitle* m_title = nullptr;
    PeaksPlot* m_plot = nullptr;
    ChartLegend* m_legend = nullptr;
    QHBoxLayout* m_foot = nullptr;
    std::vector<QToolButton*> m_switches;
};

} // namespace headroom
