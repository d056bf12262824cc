// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/menus.h"

#include "window/actions.h"
#include "window/language.h"
#include "workspace/recent_files.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

namespace headroom {

Menus::Menus(QMainWindow& window, const Actions& actions, RecentFiles& recent, const std::vector<Sample>& samples,
             const QList<QAction*>& panels)
    : QObject(&window)
    , m_window(window)
    , m_actions(actions)
    , m_recent(recent)
{
    addFile(samples);
    addEdit();
    addView(panels);
    addPlan();
    addHelp();
}

void Menus::addFile(const std::vector<Sample>& samples)
{
    QMenu* file = m_window.menuBar()->addMenu(tr("&File"));
    file->addAction(m_actions[Command::Open]);
    QMenu* sampleMenu = file->addMenu(tr("Open &samples"));
    for (const Sample& sample : samples) {
        QAction* action
            = sampleMenu->addAction(sample.title, this, [this, paths = sample.paths] { emit pathsChosen(paths); });
        action->setObjectName(QStringLiteral("sampleAction.") + sample.id);
        action->setStatusTip(sample.description);
    }
    sampleMenu->setEnabled(!samples.empty());
    m_recentMenu = file->addMenu(tr("Open &recent"));
    connect(m_recentMenu, &QMenu::aboutToShow, this, &Menus::fillRecent);
    fillRecent();
    file->addAction(m_actions[Command::Reload]);
    file->addAction(m_actions[Command::Close]);
    file->addSeparator();
    file->addAction(m_actions[Command::CompareRuns]);
    file->addAction(m_actions[Command::CompareLosses]);
    QMenu* history = file->addMenu(tr("Run &history"));
    for (const Command command : {Command::ShowHistory, Command::AddRun, Command::AddRunFiles}) {
        history->addAction(m_actions[command]);
    }
    history->addSeparator();
    for (const Command command :
         {Command::RenameRun, Command::ReferenceRun, Command::MoveRunUp, Command::MoveRunDown, Command::RemoveRun}) {
        history->addAction(m_actions[command]);
    }
    file->addSeparator();
    file->addAction(m_actions[Command::Export]);
    file->addAction(m_actions[Command::ExportAs]);
    file->addAction(m_actions[Command::SaveChart]);
    file->addAction(m_actions[Command::SaveValues]);
    file->addAction(m_actions[Command::SaveReport]);
    file->addSeparator();
    file->addAction(m_actions[Command::Quit]);
}

void Menus::fillRecent()
{
    m_recentMenu->clear();
    for (const QStringList& entry : m_recent.entries()) {
        QAction* action
            = m_recentMenu->addAction(RecentFiles::label(entry), this, [this, entry] { emit pathsChosen(entry); });
        action->setStatusTip(entry.join(QStringLiteral(", ")));
        action->setEnabled(RecentFiles::exists(entry));
    }
    m_recentMenu->addSeparator();
    QAction* clear = m_recentMenu->addAction(tr("&Clear list"), &m_recent, &RecentFiles::clear);
    clear->setStatusTip(tr("Forgets the files opened before"));
    clear->setEnabled(!m_recent.entries().isEmpty());
}

void Menus::addEdit()
{
    QMenu* edit = m_window.menuBar()->addMenu(tr("&Edit"));
    edit->addAction(m_actions[Command::Undo]);
    edit->addAction(m_actions[Command::Redo]);
    edit->addSeparator();
    edit->addAction(m_actions[Command::CopyVerdict]);
    edit->addAction(m_actions[Command::CopyChart]);
    edit->addSeparator();
    for (const Command command : {Command::Find, Command::FindNext, Command::FindPrevious, Command::GoToLine}) {
        edit->addAction(m_actions[command]);
    }
    edit->addSeparator();
    edit->addAction(m_actions[Command::ResetAll]);
}

void Menus::addView(const QList<QAction*>& panels)
{
    QMenu* view = m_window.menuBar()->addMenu(tr("&View"));
    for (const Command command :
         {Command::ZoomIn, Command::ZoomOut, Command::ZoomFit, Command::ZoomBack, Command::ZoomForward}) {
        view->addAction(m_actions[command]);
    }
    view->addSeparator();
    for (const Command command : {Command::MarkerA, Command::MarkerB, Command::ClearMarkers}) {
        view->addAction(m_actions[command]);
    }
    view->addSeparator();
    for (const Command command :
         {Command::Channels, Command::Metrics, Command::LogScale, Command::Link, Command::Follow}) {
        view->addAction(m_actions[command]);
    }
    view->addSeparator();
    QMenu* theme = view->addMenu(tr("&Theme"));
    for (const Command command : {Command::ThemeSystem, Command::ThemeLight, Command::ThemeDark}) {
        theme->addAction(m_actions[command]);
    }
    auto* language = new LanguageMenu(view);
    connect(language, &LanguageMenu::chosen, this, &Menus::languageChosen);
    view->addMenu(language);
    QMenu* panelMenu = view->addMenu(tr("&Panels"));
    panelMenu->addActions(panels);
    view->addAction(m_actions[Command::EnlargeDetails]);
    view->addAction(m_actions[Command::ResetLayout]);
    view->addSeparator();
    view->addAction(m_actions[Command::FullScreen]);
}

void Menus::addPlan()
{
    QMenu* plan = m_window.menuBar()->addMenu(tr("&Plan"));
    plan->addAction(m_actions[Command::ChangeModel]);
    plan->addAction(m_actions[Command::OpenModel]);
    plan->addAction(m_actions[Command::OtherCapacity]);
    plan->addAction(m_actions[Command::FindFit]);
    plan->addAction(m_actions[Command::PlanValues]);
    plan->addSeparator();
    QMenu* recompute = plan->addMenu(tr("&Recompute"));
    for (const Command command : {Command::RecomputeNone, Command::RecomputeSelective, Command::RecomputeFull}) {
        recompute->addAction(m_actions[command]);
    }
    QMenu* calibration = plan->addMenu(tr("Cal&ibration"));
    for (const Command command :
         {Command::Calibrate, Command::UseCalibration, Command::SaveCalibration, Command::RemoveCalibration}) {
        calibration->addAction(m_actions[command]);
    }
    plan->addSeparator();
    plan->addAction(m_actions[Command::PinBaseline]);
    plan->addAction(m_actions[Command::ResetBaseline]);
}

void Menus::addHelp()
{
    QMenu* help = m_window.menuBar()->addMenu(tr("&Help"));
    for (const Command command : {Command::Shortcuts, Command::Licences, Command::AboutQt, Command::About}) {
        help->addAction(m_actions[command]);
    }
}

} // namespace headroom
