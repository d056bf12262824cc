// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "units/bytes.h"

#include <tl/expected.hpp>

#include <QWidget>

#include <optional>
#include <vector>

namespace headroom {

class ChartLegend;
class ChartTitle;
class StagesPlot;
class ViewState;

/// The estimate per pipeline stage: bars stacked by component, the baseline's totals as dashed outlines, measured peaks
/// as diamonds, the capacity line. Keys: Left/Right choose a stage, Home/End the first and last.
class StagesChart : public QWidget
{
    Q_OBJECT

public:
    explicit StagesChart(QWidget* parent = nullptr);
    ~StagesChart() override;

    /// Called on every slider tick: reuses everything, replots queued. `baseline` may be null.
    void setFootprint(const Footprint& current, const Footprint* baseline = nullptr);
    /// `reason` is the sentence to show instead; without one the chart asks for a config or a model.
    void clear(const QString& reason = {});
    /// Peak measured on each stage, in stage order; none where unknown.
    void setMeasured(std::vector<std::optional<Bytes>> perStage);
    void setCapacity(std::optional<Bytes> capacity, const QString& label = {});
    /// What the outline stands for ("train.yaml"); shown in the title row while there is a baseline.
    void setBaselineName(const QString& name);
    /// The stage selected is the view's; the chart has a view of its own until then.
    void setViewState(ViewState* view);

    [[nodiscard]] std::optional<int> selectedStage() const;
    void selectStage(std::optional<int> stage);

    [[nodiscard]] QImage image(double scale = 2);
    [[nodiscard]] tl::expected<void, QString> saveImage(const QString& path);
    /// Tab-separated: stage, bytes of every component, total, baseline total, measured.
    [[nodiscard]] QString values() const;
    /// What stands above a stage's bar: "83.4".
    [[nodiscard]] QString totalLabel(int stage) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    void stageSelected(int stage);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitLegend();
    void markStage();
    void updateLegend();
    void updateTexts();
    [[nodiscard]] QString description() const;

    ViewState* m_ownView = nullptr;
    ViewState* m_view = nullptr;
    QString m_baselineName;
    int m_fullest = -1; ///< marked while no stage is chosen
    QString m_reason;
    ChartTitle* m_title = nullptr;
    StagesPlot* m_plot = nullptr;
    ChartLegend* m_legend = nullptr;
};

} // namespace headroom
