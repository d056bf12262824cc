// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "replay/step_timeline.h"
#include "units/bytes.h"

#include <tl/expected.hpp>

#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>

class QLabel;

namespace headroom {

class ChartTitle;
class TimelinePlot;
class ViewState;

/// One training step of a stage: allocated bytes stacked by component over the passes of its schedule. Keys: Left/Right
/// move the cursor by a layer (with Ctrl by a pass), P to the peak, Escape removes it, + and - zoom, Home shows all.
class TimelineChart : public QWidget
{
    Q_OBJECT

public:
    using Timeline = std::shared_ptr<const StepTimeline>;

    explicit TimelineChart(QWidget* parent = nullptr);
    ~TimelineChart() override;

    /// Null: there will be one; what is shown stays, faint. `schedule` is its name for people.
    void setTimeline(int stage, Timeline timeline, const QString& schedule = {});
    /// Shows a sentence instead.
    void clear(const QString& reason);
    void setCapacity(std::optional<Bytes> capacity, const QString& label = {});

    [[nodiscard]] bool isBusy() const { return m_isBusy; }
    [[nodiscard]] QString title() const;
    /// "Peak 83.4 GiB in backward of micro-batch 1, 4 in flight"
    [[nodiscard]] QString caption() const;
    /// What is shown of the step, in units of work.
    [[nodiscard]] ViewState& range() const { return *m_range; }

    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// Tab-separated: pass, micro-batch, chunk, begin, end and the bytes of every component, a line for each span.
    [[nodiscard]] QString values() const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void setBusy(bool busy);
    void moveCursor(int direction, bool byPass);
    void showCursorAt(std::optional<std::size_t> span);
    void updateTexts();
    [[nodiscard]] QString subtitle() const;
    [[nodiscard]] QString peakText() const;

    ViewState* m_range;
    ChartTitle* m_title;
    TimelinePlot* m_plot;
    QLabel* m_caption;
    QTimer m_patience; ///< a replay quicker than this is not announced
    int m_stage = 0;
    QString m_schedule;
    QString m_reason;
    bool m_isBusy = false;
};

} // namespace headroom
