// SPDX-License-Identifier: GPL-3.0-or-later
//
// The commands of a MainWindow that look at a log: its text and its chart.
#include "charts/peaks_chart.h"
#include "panels/log_panel.h"
#include "window/actions.h"
#include "window/main_window.h"
#include "window/workbench.h"
#include "workspace/view_state.h"

#include <QAction>

#include <tuple>
#include <utility>

namespace headroom {

void MainWindow::connectLogCommands()
{
    LogPanel* log = m_workbench->logText();
    for (const auto& [command, act] :
         {std::pair{Command::Find, &LogPanel::startFind}, std::pair{Command::FindNext, &LogPanel::findNext},
          std::pair{Command::FindPrevious, &LogPanel::findPrevious},
          std::pair{Command::GoToLine, &LogPanel::startGoToLine}}) {
        connect((*m_actions)[command], &QAction::triggered, this, [this, log, acting = act] {
            m_workbench->showLog();
            (log->*acting)();
        });
    }
}

void MainWindow::connectZoomCommands()
{
    const Actions& actions = *m_actions;
    ViewState* view = &m_workbench->viewState();
    connect(actions[Command::ZoomIn], &QAction::triggered, view, [view] { view->zoom(0.5, view->range().centre()); });
    connect(actions[Command::ZoomOut], &QAction::triggered, view, [view] { view->zoom(2, view->range().centre()); });
    connect(actions[Command::ZoomFit], &QAction::triggered, view, &ViewState::fit);
    connect(actions[Command::ZoomBack], &QAction::triggered, view, &ViewState::back);
    connect(actions[Command::ZoomForward], &QAction::triggered, view, &ViewState::forward);
    const auto showHistory = [this, view] {
        (*m_actions)[Command::ZoomBack]->setEnabled(view->canGoBack());
        (*m_actions)[Command::ZoomForward]->setEnabled(view->canGoForward());
    };
    connect(view, &ViewState::historyChanged, this, showHistory);
    showHistory();
}

void MainWindow::connectChartCommands()
{
    connectZoomCommands();
    const Actions& actions = *m_actions;
    ViewState* view = &m_workbench->viewState();
    PeaksChart* chart = m_workbench->peaksChart();
    connect(actions[Command::MarkerA], &QAction::triggered, chart,
            [chart] { chart->toggleMarker(ViewState::Marker::A); });
    connect(actions[Command::MarkerB], &QAction::triggered, chart,
            [chart] { chart->toggleMarker(ViewState::Marker::B); });
    connect(actions[Command::ClearMarkers], &QAction::triggered, view, &ViewState::clearMarkers);
    connect(actions[Command::Channels], &QAction::triggered, m_workbench, &Workbench::showChannels);
    connect(actions[Command::SaveChart], &QAction::triggered, chart, &PeaksChart::askAndSaveImage);
    connect(actions[Command::SaveValues], &QAction::triggered, chart, &PeaksChart::askAndSaveValues);
    connect(actions[Command::CopyChart], &QAction::triggered, chart, &PeaksChart::copyImage);
    // Short words for the chart's corner; the menu has the long ones.
    for (const auto& [command, which, word] : {std::tuple{Command::Follow, ViewState::Switch::Follow, tr("Follow")},
                                               std::tuple{Command::Link, ViewState::Switch::Link, tr("Link")},
                                               std::tuple{Command::LogScale, ViewState::Switch::LogScale, tr("Log y")},
                                               std::tuple{Command::Metrics, ViewState::Switch::Metrics, tr("Speed")}}) {
        QAction* action = actions[command];
        action->setIconText(word);
        action->setChecked(view->isOn(which));
        connect(action, &QAction::toggled, view, [view, chosen = which](bool isOn) { view->setOn(chosen, isOn); });
        connect(view, &ViewState::switched, action, [action, chosen = which](ViewState::Switch changed, bool isOn) {
            if (changed == chosen) {
                action->setChecked(isOn);
            }
        });
        chart->addSwitch(action);
    }
}

} // namespace headroom
