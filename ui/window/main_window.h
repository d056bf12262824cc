// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme/theme.h"
#include "workspace/samples.h"
#include "workspace/workspace.h"

#include <QMainWindow>

#include <memory>
#include <vector>

class QLabel;
class QPushButton;
class QStackedWidget;

namespace headroom {

class Actions;
class DropOverlay;
class FileCommands;
class GpuChooser;
class HistoryCommands;
class MessageBar;
class ProgressStrip;
class RecentFiles;
class StartPage;
class VerdictBar;
class Workbench;

/// Puts menus, toolbar, start page, workbench and status bar together and connects them. Knows what belongs to what and
/// nothing else.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(std::shared_ptr<const Library> library, const std::vector<Sample>& samples = {},
                        QWidget* parent = nullptr);
    ~MainWindow() override;

    void chooseTheme(ThemeChoice choice);

    [[nodiscard]] Workspace& workspace() { return m_workspace; }
    [[nodiscard]] FileCommands& files() const { return *m_files; }
    [[nodiscard]] Workbench& workbench() const { return *m_workbench; }
    [[nodiscard]] HistoryCommands& runs() const { return *m_runs; }
    [[nodiscard]] const Actions& actions() const { return *m_actions; }
    [[nodiscard]] MessageBar& messageBar() const { return *m_messages; }
    [[nodiscard]] VerdictBar& verdictBar() const { return *m_verdict; }
    [[nodiscard]] bool showsStartPage() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void makeCentre(const std::vector<Sample>& samples);
    void makeToolBar();
    void makeStatusBar();
    void connectCommands();
    void connectLogCommands();
    void connectChartCommands();
    void connectZoomCommands();
    void connectPlanCommands();
    void connectHelpCommands();
    void connectWorkspace();
    void restore();
    void showDocuments();
    void showDraft();
    void showTitle();
    void showOpening();
    void showStatus();
    void highlightDrop(bool highlighted);

    Workspace m_workspace;
    RecentFiles* m_recent;
    Actions* m_actions;
    FileCommands* m_files = nullptr;
    Workbench* m_workbench = nullptr;
    HistoryCommands* m_runs = nullptr;
    StartPage* m_start = nullptr;
    QStackedWidget* m_pages = nullptr;
    MessageBar* m_messages = nullptr;
    ProgressStrip* m_progress = nullptr;
    VerdictBar* m_verdict = nullptr;
    GpuChooser* m_gpu = nullptr;
    DropOverlay* m_overlay = nullptr;
    QLabel* m_exactness = nullptr;
    QLabel* m_logFacts = nullptr;
    QPushButton* m_problemsLink = nullptr;
    QAction* m_verdictAction = nullptr;
    bool m_wasOpening = false;
};

} // namespace headroom
