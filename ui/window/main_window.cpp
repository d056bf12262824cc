// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/main_window.h"

#include "dialogs/help_dialogs.h"
#include "panels/gpu_chooser.h"
#include "panels/notices.h"
#include "panels/start_page.h"
#include "panels/styled.h"
#include "panels/verdict_bar.h"
#include "theme/icons.h"
#include "window/actions.h"
#include "window/calibration_commands.h"
#include "window/drop_overlay.h"
#include "window/file_commands.h"
#include "window/history_commands.h"
#include "window/menus.h"
#include "window/settings.h"
#include "window/workbench.h"
#include "workspace/recent_files.h"
#include "workspace/wording.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDialog>
#include <QLabel>
#include <QLocale>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {
namespace {

QStringList localPaths(const QMimeData& data)
{
    QStringList paths;
    for (const QUrl& url : data.urls()) {
        if (url.isLocalFile()) {
            paths.append(url.toLocalFile());
        }
    }
    return paths;
}

constexpr std::array<std::pair<ThemeChoice, Command>, 3> themes{{{ThemeChoice::System, Command::ThemeSystem},
                                                                 {ThemeChoice::Light, Command::ThemeLight},
                                                                 {ThemeChoice::Dark, Command::ThemeDark}}};
constexpr std::array<const char*, 3> themeNames{"system", "light", "dark"};

} // namespace

MainWindow::MainWindow(std::shared_ptr<const Library> library, const std::vector<Sample>& samples, QWidget* parent)
    : QMainWindow(parent)
    , m_workspace(std::move(library))
    , m_recent(new RecentFiles(this))
    , m_actions(new Actions(m_workspace.undoStack(), this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    makeCentre(samples);
    auto* menus = new Menus(*this, *m_actions, *m_recent, samples, m_workbench->panelActions());
    connect(menus, &Menus::pathsChosen, m_files, &FileCommands::openPaths);
    connect(menus, &Menus::languageChosen, this, [this] {
        m_messages->showMessage(Severity::Note, tr("The language changes when Headroom starts again."));
    });
    makeToolBar();
    makeStatusBar();
    connectCommands();
    connectPlanCommands();
    connectHelpCommands();
    connectWorkspace();
    restore();
    showDocuments();
    showDraft();
}

MainWindow::~MainWindow()
{
    m_workspace.disconnect(this); // its members outlive the widgets below, which must not be told any more
}

void MainWindow::makeCentre(const std::vector<Sample>& samples)
{
    m_messages = new MessageBar;
    m_files = new FileCommands(m_workspace, *m_messages, *this);
    new CalibrationCommands(m_workspace, *m_messages, *m_actions, *this);
    m_progress = new ProgressStrip;
    m_workbench = new Workbench(m_workspace);
    m_runs = new HistoryCommands(m_workspace, *m_workbench, *m_messages, *m_actions);
    m_start = new StartPage(*m_recent, samples);
    m_pages = new QStackedWidget;
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_workbench);
    auto* centre = new QWidget(this);
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_progress);
    layout->addWidget(m_messages);
    layout->addWidget(m_pages, 1);
    setCentralWidget(centre);
    m_overlay = new DropOverlay(centre);
    connect(m_start, &StartPage::openRequested, m_files, &FileCommands::chooseFiles);
    connect(m_start, &StartPage::modelRequested, m_files, &FileCommands::chooseModel);
    connect(m_start, &StartPage::pathsChosen, m_files, &FileCommands::openPaths);
    connect(m_progress, &ProgressStrip::cancelRequested, &m_workspace, &Workspace::cancelOpening);
}

void MainWindow::makeToolBar()
{
    auto* bar = addToolBar(tr("Toolbar"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
    bar->addAction((*m_actions)[Command::Open]);
    bar->addAction((*m_actions)[Command::CompareRuns]);
    bar->addAction((*m_actions)[Command::Export]);
    m_gpu = new GpuChooser(m_workspace, bar);
    bar->addWidget(m_gpu);
    m_verdict = new VerdictBar(bar);
    m_exactness = makeLabel({}, "muted");
    auto* holder = new QWidget;
    auto* layout = new QHBoxLayout(holder);
    layout->setContentsMargins(4, 0, 4, 0);
    layout->setSpacing(14);
    layout->addWidget(m_verdict, 1);
    layout->addWidget(m_exactness);
    m_verdictAction = bar->addWidget(holder);
}

void MainWindow::makeStatusBar()
{
    m_logFacts = new QLabel(this);
    m_logFacts->setContentsMargins(8, 0, 0, 0);
    m_problemsLink = makeLink({}, this);
    m_problemsLink->setObjectName(QStringLiteral("problemsLink"));
    m_problemsLink->setToolTip(tr("Shows what was not understood"));
    statusBar()->addWidget(m_logFacts);
    statusBar()->addPermanentWidget(m_problemsLink);
    statusBar()->setSizeGripEnabled(false);
    connect(m_problemsLink, &QPushButton::clicked, m_workbench, &Workbench::showProblems);
}

void MainWindow::connectCommands()
{
    const Actions& actions = *m_actions;
    connect(actions[Command::Open], &QAction::triggered, m_files, &FileCommands::chooseFiles);
    connect(actions[Command::Close], &QAction::triggered, m_files, &FileCommands::close);
    connect(actions[Command::Export], &QAction::triggered, m_files, &FileCommands::exportConfig);
    connect(actions[Command::ExportAs], &QAction::triggered, m_files, &FileCommands::exportAs);
    connect(actions[Command::CompareRuns], &QAction::triggered, m_files, &FileCommands::chooseRunBefore);
    connect(actions[Command::CompareLosses], &QAction::triggered, m_files, &FileCommands::chooseLosses);
    connect(actions[Command::AddRunFiles], &QAction::triggered, m_files, &FileCommands::chooseRunForHistory);
    connect(m_files, &FileCommands::runForHistoryChosen, m_runs, &HistoryCommands::addFiles);
    connect(actions[Command::SaveReport], &QAction::triggered, m_files, &FileCommands::chooseReport);
    connect(actions[Command::Reload], &QAction::triggered, &m_workspace, &Workspace::reload);
    connect(actions[Command::Quit], &QAction::triggered, this, &QWidget::close);
    connect(actions[Command::CopyVerdict], &QAction::triggered, m_verdict, &VerdictBar::copy);
    connectLogCommands();
    connectChartCommands();
    connect(actions[Command::ResetAll], &QAction::triggered, &m_workspace, &Workspace::resetAll);
    for (const auto& [choice, command] : themes) {
        connect(actions[command], &QAction::triggered, this, [this, chosen = choice] {
            chooseTheme(chosen);
            Settings::setValue(Preference::Theme, QString::fromLatin1(themeNames[static_cast<std::size_t>(chosen)]));
        });
    }
    m_workbench->enlargeDetailsBy(*actions[Command::EnlargeDetails]);
    connect(actions[Command::ResetLayout], &QAction::triggered, m_workbench, [this, &actions] {
        actions[Command::EnlargeDetails]->setChecked(false);
        m_workbench->resetLayout();
    });
    connect(actions[Command::FullScreen], &QAction::toggled, this,
            [this](bool isOn) { isOn ? showFullScreen() : showNormal(); });
}

void MainWindow::connectPlanCommands()
{
    const Actions& actions = *m_actions;
    connect(actions[Command::PinBaseline], &QAction::triggered, &m_workspace, &Workspace::pinBaseline);
    connect(actions[Command::ResetBaseline], &QAction::triggered, &m_workspace, &Workspace::resetBaseline);
    for (const auto& [command, granularity] : {std::pair{Command::RecomputeNone, Granularity::None},
                                               std::pair{Command::RecomputeSelective, Granularity::Selective},
                                               std::pair{Command::RecomputeFull, Granularity::Full}}) {
        connect(actions[command], &QAction::triggered, this,
                [this, chosen = granularity] { m_workspace.setGranularity(chosen); });
    }
    connect(actions[Command::FindFit], &QAction::triggered, m_workbench, &Workbench::showFit);
    connect(actions[Command::PlanValues], &QAction::triggered, m_workbench, &Workbench::showPlan);
    connect(actions[Command::ChangeModel], &QAction::triggered, m_files, &FileCommands::chooseModel);
    connect(actions[Command::OpenModel], &QAction::triggered, m_files, &FileCommands::chooseModelFile);
    connect(actions[Command::OtherCapacity], &QAction::triggered, m_gpu, &GpuChooser::askCapacity);
    connect(m_workbench, &Workbench::modelRequested, m_files, &FileCommands::chooseModel);
    connect(m_workbench, &Workbench::exportRequested, m_files, &FileCommands::exportConfig);
}

void MainWindow::connectHelpCommands()
{
    const Actions& actions = *m_actions;
    connect(actions[Command::Shortcuts], &QAction::triggered, this, [this] {
        QList<QAction*> all;
        for (const auto& [command, action] : m_actions->all()) {
            all.append(action);
        }
        makeShortcutsDialog(all, this)->show();
    });
    connect(actions[Command::Licences], &QAction::triggered, this, [this] { makeLicencesDialog(this)->show(); });
    connect(actions[Command::About], &QAction::triggered, this, [this] { makeAboutDialog(this)->show(); });
    connect(actions[Command::AboutQt], &QAction::triggered, qApp, &QApplication::aboutQt);
}

void MainWindow::connectWorkspace()
{
    connect(&m_workspace, &Workspace::documentsChanged, this, &MainWindow::showDocuments);
    connect(m_workbench, &Workbench::lossesChanged, this, &MainWindow::showDocuments);
    connect(m_workbench, &Workbench::runRequested, m_files, &FileCommands::chooseRunBefore);
    connect(m_workbench, &Workbench::lossesRequested, m_files, &FileCommands::chooseLosses);
    connect(m_files, &FileCommands::runBeforeChosen, m_workbench, &Workbench::compareRuns);
    connect(m_files, &FileCommands::lossesChosen, m_workbench, &Workbench::compareLosses);
    connect(m_files, &FileCommands::closed, m_workbench, &Workbench::closeComparisons);
    connect(&m_workspace, &Workspace::draftChanged, this, &MainWindow::showDraft);
    connect(&m_workspace, &Workspace::configChanged, this, &MainWindow::showTitle);
    connect(&m_workspace, &Workspace::openingChanged, this, &MainWindow::showOpening);
    connect(&m_workspace, &Workspace::openingProgressed, m_progress, &ProgressStrip::setProgress);
    connect(&m_workspace, &Workspace::concludingFrom, m_progress, &ProgressStrip::setConcluding);
    connect(&m_workspace, &Workspace::messageRaised, m_messages, &MessageBar::showMessage);
    connect(&m_workspace, &Workspace::opened, m_recent, &RecentFiles::add);
}

void MainWindow::restore()
{
    restoreGeometry(Settings::value(Preference::WindowGeometry).toByteArray());
    if (const QByteArray panels = Settings::value(Preference::PanelLayout).toByteArray(); !panels.isEmpty()) {
        m_workbench->setProperty("layoutRestored", m_workbench->restoreState(panels, Settings::layoutVersion));
    }
    for (const auto& [choice, command] : themes) {
        (*m_actions)[command]->setChecked(themeChoice() == choice);
    }
}

void MainWindow::chooseTheme(ThemeChoice choice)
{
    applyTheme(*qApp, choice);
    for (const auto& [each, command] : themes) {
        (*m_actions)[command]->setChecked(each == choice);
    }
}

bool MainWindow::showsStartPage() const
{
    return m_pages->currentWidget() == m_start;
}

void MainWindow::showDocuments()
{
    const bool isEmpty = m_workspace.isEmpty();
    const bool isStart = isEmpty && !m_workbench->hasLosses();
    m_pages->setCurrentWidget(isStart ? static_cast<QWidget*>(m_start) : m_workbench);
    m_verdictAction->setVisible(!isEmpty);
    for (const Command command :
         {Command::Close, Command::Reload, Command::CopyVerdict, Command::ResetLayout, Command::ZoomIn,
          Command::ZoomOut, Command::ZoomFit, Command::PinBaseline, Command::ResetBaseline, Command::RecomputeNone,
          Command::RecomputeSelective, Command::RecomputeFull, Command::OtherCapacity, Command::Find, Command::FindNext,
          Command::FindPrevious, Command::GoToLine}) {
        (*m_actions)[command]->setEnabled(!isEmpty);
    }
    for (const Command command :
         {Command::MarkerA, Command::MarkerB, Command::ClearMarkers, Command::Follow, Command::Link, Command::LogScale,
          Command::Metrics, Command::SaveChart, Command::SaveValues, Command::CopyChart}) {
        (*m_actions)[command]->setEnabled(m_workspace.log() != nullptr);
    }
    for (const Command command : {Command::SaveReport, Command::FindFit, Command::CompareRuns}) {
        (*m_actions)[command]->setEnabled(!isEmpty);
    }
    (*m_actions)[Command::Close]->setEnabled(!isStart);
    (*m_actions)[Command::EnlargeDetails]->setEnabled(!isStart);
    for (QAction* panel : m_workbench->panelActions()) {
        panel->setEnabled(!isEmpty);
    }
    m_gpu->setEnabled(!isEmpty);
    showStatus();
    showTitle();
}

void MainWindow::showDraft()
{
    m_verdict->setVerdict(m_workspace.verdict());
    m_exactness->setText(m_workspace.verdict().exactness);
    (*m_actions)[Command::ResetAll]->setEnabled(!m_workspace.draft().means(m_workspace.original()));
}

void MainWindow::showTitle()
{
    QStringList parts;
    const LoadedLog* log = m_workspace.log();
    if (log != nullptr) {
        parts.append(log->paths.size() == 1 ? fileName(log->paths.front())
                                            : tr("%n logs", nullptr, static_cast<int>(log->paths.size())));
    }
    if (const LoadedConfig* config = m_workspace.config()) {
        parts.append(fileName(config->path) + QStringLiteral("[*]"));
    }
    parts.append(QStringLiteral("Headroom"));
    setWindowTitle(parts.join(QStringLiteral(" — ")));
    setWindowModified(m_workspace.isModified());
    const bool hasPlan = m_workspace.config() || m_workspace.model() || (log && log->plan);
    (*m_actions)[Command::Export]->setEnabled(m_workspace.config() != nullptr);
    (*m_actions)[Command::ExportAs]->setEnabled(hasPlan);
}

void MainWindow::showStatus()
{
    const LoadedLog* log = m_workspace.log();
    if (log == nullptr) {
        m_logFacts->clear();
    } else {
        const QString name = log->paths.size() == 1 ? fileName(log->paths.front())
                                                    : tr("%n logs", nullptr, static_cast<int>(log->paths.size()));
        m_logFacts->setText(tr("%1: %2 lines, %3 measurements, %4 s")
                                .arg(name, grouped(log->run->lineCount), grouped(static_cast<qint64>(log->run->size())),
                                     QLocale().toString(log->seconds, 'f', 2)));
    }
    const auto count
        = static_cast<int>(std::min<qint64>(m_workspace.isEmpty() ? 0 : m_workspace.problemCount(), 1'000'000'000));
    m_problemsLink->setVisible(count > 0);
    m_problemsLink->setText(tr("%n line(s) not understood · Problems", nullptr, count));
}

void MainWindow::showOpening()
{
    // One more opening beside a running one leaves what the first had to say.
    if (m_workspace.isOpening() && !std::exchange(m_wasOpening, true)) {
        m_messages->clear();
        m_progress->start();
    } else if (!m_workspace.isOpening()) {
        m_wasOpening = false;
        m_progress->finish();
    }
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!m_files->mayLoseChanges()) {
        event->ignore();
        return;
    }
    Settings::setValue(Preference::WindowGeometry, saveGeometry());
    if (!showsStartPage()) {
        Settings::setValue(Preference::PanelLayout, m_workbench->saveState(Settings::layoutVersion));
    }
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localPaths(*event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
        highlightDrop(true);
    }
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent* event)
{
    highlightDrop(false);
    event->accept();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    highlightDrop(false);
    event->acceptProposedAction();
    m_files->openPaths(localPaths(*event->mimeData()));
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    if (m_overlay->isVisible()) {
        m_overlay->setActive(true);
    }
}

void MainWindow::highlightDrop(bool highlighted)
{
    if (showsStartPage()) {
        m_start->setDropHighlighted(highlighted);
    } else {
        m_overlay->setActive(highlighted);
    }
}

} // namespace headroom
