// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/samples.h"

#include <QObject>

#include <vector>

class QAction;
class QMainWindow;
class QMenu;

namespace headroom {

class Actions;
class RecentFiles;

/// The menu bar, with the menus that are made from data: samples, recent files and languages.
class Menus : public QObject
{
    Q_OBJECT

public:
    /// `panels` are the commands that show and hide panels.
    Menus(QMainWindow& window, const Actions& actions, RecentFiles& recent, const std::vector<Sample>& samples,
          const QList<QAction*>& panels);

signals:
    void pathsChosen(const QStringList& paths);
    void languageChosen();

private:
    void addFile(const std::vector<Sample>& samples);
    void addEdit();
    void addView(const QList<QAction*>& panels);
    void addPlan();
    void addHelp();
    void fillRecent();

    QMainWindow& m_window;
    const Actions& m_actions;
    RecentFiles& m_recent;
    QMenu* m_recentMenu = nullptr;
};

} // namespace headroom
