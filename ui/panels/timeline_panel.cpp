// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/timeline_panel.h"

#include "charts/timeline_chart.h"
#include "workspace/choices.h"
#include "workspace/replay_job.h"
#include "workspace/view_state.h"
#include "workspace/workspace.h"

#include <QVBoxLayout>

namespace headroom {

TimelinePanel::TimelinePanel(Workspace& workspace, ViewState& view, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_chart(new TimelineChart(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_chart);
    connect(&workspace, &Workspace::draftChanged, this, &TimelinePanel::refresh);
    connect(&workspace, &Workspace::replayChanged, this, &TimelinePanel::refresh);
    connect(&view, &ViewState::stageChanged, this, &TimelinePanel::followStage);
    refresh();
}

void TimelinePanel::followStage()
{
    m_workspace.wantStage(m_view.stage().value_or(-1));
    refresh();
}

void TimelinePanel::refresh()
{
    const Footprint* footprint = m_workspace.footprint();
    if (footprint == nullptr) {
        const QString obstacle = m_workspace.obstacle();
        m_chart->clear(obstacle.isEmpty() ? tr("No estimate yet.\nOpen a config, or choose a model.")
                                          : noEstimateText(obstacle));
        return;
    }
    if (const QString obstacle = m_workspace.timelineObstacle(); !obstacle.isEmpty()) {
        m_chart->clear(tr("No timeline: %1").arg(obstacle));
        return;
    }
    const int stage = shownStage(*footprint, m_view.stage());
    auto timeline = m_workspace.replayJob().timeline(stage);
    const QString schedule
        = timeline ? optionTitle(Choice::Schedule, std::string(nameOf(timeline->schedule))) : QString();
    m_chart->setTimeline(stage, std::move(timeline), schedule);
}

} // namespace headroom
