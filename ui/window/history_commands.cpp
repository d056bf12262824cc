// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/history_commands.h"

#include "panels/compare_panel.h"
#include "panels/history_panel.h"
#include "panels/notices.h"
#include "window/actions.h"
#include "window/workbench.h"
#include "workspace/run_history.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QAction>
#include <QTableView>

#include <utility>

namespace headroom {

HistoryCommands::HistoryCommands(Workspace& workspace, Workbench& workbench, MessageBar& messages,
                                 const Actions& actions)
    : QObject(&workbench)
    , m_workspace(workspace)
    , m_workbench(workbench)
    , m_history(workbench.history())
    , m_panel(*workbench.compare()->history())
    , m_messages(messages)
    , m_actions(actions)
{
    connectActions();
    connect(&m_panel, &HistoryPanel::addRequested, this, &HistoryCommands::addCurrent);
    connect(&m_panel, &HistoryPanel::chosenChanged, this, &HistoryCommands::updateActions);
    connect(&m_history, &RunHistory::stepped, &workbench, &Workbench::showHistory); // what has changed is to be seen
    connect(&m_watcher, &QFutureWatcher<OtherRunAnswer>::finished, this, &HistoryCommands::take);
    connect(&workspace, &Workspace::documentsChanged, this, &HistoryCommands::updateActions);
    connect(&workspace, &Workspace::draftChanged, this, &HistoryCommands::updateActions);
    connect(&workspace, &Workspace::replayChanged, this, &HistoryCommands::addWaiting);
    updateActions();
}

void HistoryCommands::connectActions()
{
    const auto onChosen = [this](Command command, auto change) {
        connect(m_actions[command], &QAction::triggered, this, [this, change] {
            if (const auto place = m_panel.chosen()) {
                m_workbench.showHistory();
                change(*place);
            }
        });
        m_panel.view()->addAction(m_actions[command]);
    };
    connect(m_actions[Command::AddRun], &QAction::triggered, this, &HistoryCommands::addCurrent);
    connect(m_actions[Command::ShowHistory], &QAction::triggered, &m_workbench, &Workbench::showHistory);
    onChosen(Command::RenameRun, [this](std::size_t) { m_panel.editName(); });
    onChosen(Command::ReferenceRun, [this](std::size_t place) { m_history.toggleReference(place); });
    const auto move = [this](bool isLater) {
        return [this, isLater](std::size_t place) {
            const std::size_t count = m_history.runs().size();
            const bool isAtEnd = isLater ? place + 1 == count : place == 0;
            m_history.move(place, isLater);
            m_panel.choose(isAtEnd ? place : isLater ? place + 1 : place - 1);
        };
    };
    onChosen(Command::MoveRunUp, move(false));
    onChosen(Command::MoveRunDown, move(true));
    onChosen(Command::RemoveRun, [this](std::size_t place) { m_history.remove(place); });
}

void HistoryCommands::addCurrent()
{
    m_isWaiting = true;
    addWaiting();
}

void HistoryCommands::addWaiting()
{
    const Footprint* footprint = m_workspace.footprint();
    const bool isExactToCome
        = footprint != nullptr && footprint->engine == Engine::Instant && m_workspace.timelineObstacle().isEmpty();
    if (!m_isWaiting || m_workspace.isReplaying() || isExactToCome) {
        return;
    }
    m_isWaiting = false;
    if (auto run = currentRun(m_workspace)) {
        add(std::move(*run));
    } else {
        m_messages.showMessage(Severity::Warning, translated(run.error()));
    }
}

void HistoryCommands::addFiles(const QStringList& paths)
{
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths) {
        files.push_back(toPath(path));
    }
    if (!files.empty()) {
        m_watcher.setFuture(
            openOtherRun(files, std::make_shared<const Library>(m_workspace.library()), m_workspace.plan()));
    }
}

void HistoryCommands::take()
{
    if (m_watcher.future().resultCount() == 0) {
        return;
    }
    const OtherRunAnswer answer = m_watcher.result();
    if (*answer) {
        add((*answer)->forHistory());
    } else {
        m_messages.showMessage(Severity::Error, translated(answer->error()));
    }
}

void HistoryCommands::add(HistoryRun run)
{
    m_history.add(std::move(run));
    m_panel.choose(m_history.runs().size() - 1);
    m_workbench.showHistory();
}

void HistoryCommands::updateActions()
{
    m_actions[Command::AddRun]->setEnabled(m_workspace.log() != nullptr || m_workspace.footprint() != nullptr);
    m_actions[Command::AddRunFiles]->setEnabled(!m_workspace.isEmpty());
    m_actions[Command::ShowHistory]->setEnabled(!m_workspace.isEmpty());
    const auto place = m_panel.chosen();
    const std::size_t count = m_history.runs().size();
    for (const Command command : {Command::RenameRun, Command::ReferenceRun, Command::RemoveRun}) {
        m_actions[command]->setEnabled(place.has_value());
    }
    m_actions[Command::MoveRunUp]->setEnabled(place && *place > 0);
    m_actions[Command::MoveRunDown]->setEnabled(place && *place + 1 < count);
}

} // namespace headroom
