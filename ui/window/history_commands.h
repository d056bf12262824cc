// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/other_run.h"

#include <QFutureWatcher>
#include <QObject>
#include <QStringList>

namespace headroom {

class Actions;
class HistoryPanel;
class MessageBar;
class RunHistory;
class Workbench;
class Workspace;

/// Adds runs to the history, and removes, names, moves and pins those in it.
class HistoryCommands : public QObject
{
    Q_OBJECT

public:
    HistoryCommands(Workspace& workspace, Workbench& workbench, MessageBar& messages, const Actions& actions);

    /// Waits for exact figures where they are on their way.
    void addCurrent();
    /// A log, a config or both of them, of one run.
    void addFiles(const QStringList& paths);
    [[nodiscard]] bool isBusy() const { return m_isWaiting || m_watcher.isRunning(); }

private:
    void connectActions();
    void addWaiting();
    void add(HistoryRun run);
    void take();
    void updateActions();

    Workspace& m_workspace;
    Workbench& m_workbench;
    RunHistory& m_history;
    HistoryPanel& m_panel;
    MessageBar& m_messages;
    const Actions& m_actions;
    QFutureWatcher<OtherRunAnswer> m_watcher;
    bool m_isWaiting = false;
};

} // namespace headroom
