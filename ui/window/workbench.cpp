// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/workbench.h"

#include "charts/peaks_chart.h"
#include "charts/ranks_chart.h"
#include "charts/stages_chart.h"
#include "charts/timeline_chart.h"
#include "panels/channels_panel.h"
#include "panels/compare_panel.h"
#include "panels/diff_panel.h"
#include "panels/findings_panel.h"
#include "panels/fit_panel.h"
#include "panels/formula_panel.h"
#include "panels/knobs_panel.h"
#include "panels/log_panel.h"
#include "panels/loss_panel.h"
#include "panels/peaks_panel.h"
#include "panels/plan_panel.h"
#include "panels/problems_panel.h"
#include "panels/styled.h"
#include "panels/timeline_panel.h"
#include "window/places.h"
#include "workspace/run_history.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QDockWidget>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStyle>
#include <QTabWidget>
#include <QToolButton>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace headroom {
namespace {

// Widths in average characters, so that they follow the font.
constexpr int knobsWidth = 52;
constexpr int findingsWidth = 53;
constexpr int findingsLeastWidth = 30;
constexpr double detailsShare = 0.25;
constexpr int measuredShare = 54; // percent of the centre's height

} // namespace

Workbench::Workbench(Workspace& workspace, QWidget* parent)
    : QMainWindow(parent)
    , m_workspace(workspace)
    , m_view(new ViewState(this))
    , m_history(new RunHistory(workspace.undoStack(), this))
    , m_knobs(new KnobsPanel(workspace))
    , m_findings(new FindingsPanel(workspace))
{
    setObjectName(QStringLiteral("workbench"));
    setWindowFlags(Qt::Widget);
    setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    makeCentre();
    makeDetails();
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(m_knobs);
    m_knobsDock = addDock(QStringLiteral("knobsDock"), tr("Knobs"), scroll, Qt::LeftDockWidgetArea);
    m_findingsDock = addDock(QStringLiteral("findingsDock"), tr("Findings"), m_findings, Qt::RightDockWidgetArea);
    m_detailsDock = addDock(QStringLiteral("detailsDock"), tr("Details"), m_tabs, Qt::BottomDockWidgetArea);
    m_knobsDock->toggleViewAction()->setShortcut(QKeySequence(QStringLiteral("Ctrl+F6")));
    m_findingsDock->toggleViewAction()->setShortcut(QKeySequence(QStringLiteral("Ctrl+F7")));
    m_detailsDock->toggleViewAction()->setShortcut(QKeySequence(QStringLiteral("Ctrl+F8")));
    connectPanels();
}

QDockWidget* Workbench::addDock(const QString& name, const QString& title, QWidget* content, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    if (area == Qt::BottomDockWidgetArea) {
        dock->setTitleBarWidget(new QWidget(dock)); // its tabs are title enough
    } else {
        QLabel* label = makeLabel(area == Qt::LeftDockWidgetArea ? tr("MODEL") : tr("FINDINGS"), "section", dock);
        label->setContentsMargins(18, 12, 12, 4);
        dock->setTitleBarWidget(label);
    }
    dock->toggleViewAction()->setStatusTip(tr("Shows or hides the panel %1").arg(title));
    addDockWidget(area, dock);
    return dock;
}

void Workbench::makeCentre()
{
    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->setChildrenCollapsible(false);
    m_peaksChart = new PeaksChart(splitter);
    m_peaksChart->setViewState(m_view);
    auto* estimates = new QSplitter(Qt::Horizontal, splitter);
    m_charts = {m_peaksChart, estimates};
    estimates->setChildrenCollapsible(false);
    m_stagesChart = new StagesChart(estimates);
    m_stagesChart->setViewState(m_view);
    m_timeline = new TimelinePanel(m_workspace, *m_view, estimates);
    estimates->setSizes({45, 55});
    estimates->setStretchFactor(0, 45);
    estimates->setStretchFactor(1, 55);
    splitter->addWidget(m_peaksChart);
    splitter->addWidget(estimates);
    splitter->setStretchFactor(0, measuredShare);
    splitter->setStretchFactor(1, 100 - measuredShare);
    setCentralWidget(splitter);
}

void Workbench::makeDetails()
{
    m_peaks = new PeaksPanel(m_workspace);
    m_formula = new FormulaPanel(m_workspace, *m_view);
    m_plan = new PlanPanel(m_workspace);
    m_fit = new FitPanel(m_workspace);
    m_compare = new ComparePanel(m_workspace, *m_history);
    m_loss = new LossPanel(m_workspace);
    m_diff = new DiffPanel(m_workspace);
    m_channels = new ChannelsPanel(m_workspace, *m_view);
    m_log = new LogPanel(m_workspace);
    m_places = new Places(m_workspace, *m_view, *m_log, this);
    m_problems = new ProblemsPanel(m_workspace);
    m_tabs = new QTabWidget;
    m_tabs->setObjectName(QStringLiteral("detailsTabs"));
    m_tabs->setDocumentMode(true);
    m_tabs->addTab(m_peaks, tr("Peaks"));
    m_tabs->addTab(m_formula, tr("Formula"));
    m_tabs->addTab(m_plan, tr("Plan"));
    m_tabs->addTab(m_fit, tr("Fit"));
    m_tabs->addTab(m_diff, tr("Config diff"));
    m_tabs->addTab(m_compare, tr("Compare"));
    m_tabs->addTab(m_loss, tr("Loss"));
    m_tabs->addTab(m_log, tr("Log"));
    m_tabs->addTab(m_channels, tr("Channels"));
    m_tabs->addTab(m_problems, tr("Problems"));
    m_tabs->setCurrentWidget(m_formula);
}

void Workbench::connectPanels()
{
    connect(&m_workspace, &Workspace::documentsChanged, this, &Workbench::showDocuments);
    connect(&m_workspace, &Workspace::draftChanged, this, &Workbench::showDraft);
    connect(&m_workspace, &Workspace::findingsChanged, this, &Workbench::showTabTitles);
    connect(m_diff, &DiffPanel::changed, this, &Workbench::showTabTitles);
    connect(m_diff, &DiffPanel::exportRequested, this, &Workbench::exportRequested);
    connect(m_knobs, &KnobsPanel::modelRequested, this, &Workbench::modelRequested);
    connect(m_compare, &ComparePanel::filesRequested, this, &Workbench::runRequested);
    connect(m_compare, &ComparePanel::evidenceActivated, m_places, &Places::show);
    connect(m_compare, &ComparePanel::beforeChanged, this, &Workbench::lookUpLossCauses);
    connect(&m_workspace, &Workspace::documentsChanged, this, &Workbench::lookUpLossCauses);
    connect(m_loss, &LossPanel::filesRequested, this, &Workbench::lossesRequested);
    connect(m_loss, &LossPanel::evidenceActivated, m_places, &Places::show);
    connect(m_loss, &LossPanel::useChanged, this, &Workbench::lossesChanged);
    connect(m_peaks, &PeaksPanel::recordActivated, m_places, &Places::showRecord);
    connect(m_findings, &FindingsPanel::evidenceActivated, m_places, &Places::show);
    connect(m_plan, &PlanPanel::placeActivated, m_places, &Places::show);
    connect(m_problems, &ProblemsPanel::placeActivated, m_places, &Places::show);
    connect(m_peaksChart, &PeaksChart::recordActivated, m_places, &Places::showRecord);
    connect(m_places, &Places::textShown, this, &Workbench::showLog);
    connect(m_channels->ranks(), &RanksChart::recordActivated, m_places, &Places::showRecord);
}

QList<QAction*> Workbench::panelActions() const
{
    return {m_knobsDock->toggleViewAction(), m_findingsDock->toggleViewAction(), m_detailsDock->toggleViewAction()};
}

void Workbench::enlargeDetailsBy(QAction& action)
{
    auto* button = new QToolButton;
    button->setDefaultAction(&action);
    button->setProperty("quiet", true);
    m_tabs->setCornerWidget(button);
    connect(m_tabs, &QTabWidget::tabBarDoubleClicked, &action, &QAction::toggle);
    connect(m_detailsDock, &QDockWidget::visibilityChanged, this, [this, &action] {
        // Without charts and details there would be nothing to see.
        if (m_detailsDock->isHidden()) {
            action.setChecked(false);
        }
    });
    connect(&action, &QAction::toggled, this, [this](bool isLarge) {
        if (isLarge) {
            m_detailsDock->show();
        }
        const int height = std::exchange(m_detailsHeight, m_detailsDock->height());
        // Its contents are hidden, not itself: the panels beside it would take a share of its room.
        for (QWidget* chart : m_charts) {
            chart->setVisible(!isLarge);
        }
        m_isEnlarged = isLarge;
        resizeDocks({m_detailsDock}, {isLarge ? this->height() : height}, Qt::Vertical);
    });
}

void Workbench::resetLayout()
{
    const std::array<std::pair<QDockWidget*, Qt::DockWidgetArea>, 3> docks{{{m_knobsDock, Qt::LeftDockWidgetArea},
                                                                            {m_findingsDock, Qt::RightDockWidgetArea},
                                                                            {m_detailsDock, Qt::BottomDockWidgetArea}}};
    for (const auto& [dock, area] : docks) {
        removeDockWidget(dock);
        addDockWidget(area, dock);
        dock->setFloating(false);
        dock->show();
    }
    const int character = fontMetrics().averageCharWidth();
    resizeDocks({m_knobsDock, m_findingsDock}, {knobsWidth * character, findingsWidth * character}, Qt::Horizontal);
    resizeDocks({m_detailsDock}, {static_cast<int>(height() * detailsShare)}, Qt::Vertical);
}

void Workbench::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    if (!m_isLaidOut) {
        m_isLaidOut = true;
        // Only now the style has said how much room the knobs need.
        QWidget* scroll = m_knobsDock->widget();
        scroll->setMinimumWidth(m_knobs->minimumSizeHint().width() + style()->pixelMetric(QStyle::PM_ScrollBarExtent));
        // A finding's button must stay readable.
        m_findingsDock->widget()->setMinimumWidth(findingsLeastWidth * fontMetrics().averageCharWidth());
        if (!property("layoutRestored").toBool()) {
            resetLayout();
        }
    }
}

void Workbench::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    if (m_isEnlarged) {
        resizeDocks({m_detailsDock}, {height()}, Qt::Vertical);
    }
}

void Workbench::showDocuments()
{
    const LoadedLog* log = m_workspace.log();
    m_peaksChart->setRun(log != nullptr ? log->run : nullptr);
    giveMeasuredRoom(log != nullptr && (log->run->size() > 0 || log->run->steps.size() > 0));
    showTabTitles();
}

/// Without measurements the estimates get the room; with them, the share the user gave them.
void Workbench::giveMeasuredRoom(bool isMeasured)
{
    auto* centre = static_cast<QSplitter*>(centralWidget());
    if (isMeasured == (m_peaksChart->maximumHeight() == QWIDGETSIZE_MAX)) {
        return;
    }
    if (!isMeasured) {
        m_centreSizes = centre->sizes();
        m_peaksChart->setMaximumHeight(m_peaksChart->minimumSizeHint().height());
        return;
    }
    m_peaksChart->setMaximumHeight(QWIDGETSIZE_MAX);
    const bool isKnown = std::ranges::count(m_centreSizes, 0) == 0 && !m_centreSizes.isEmpty();
    centre->setSizes(isKnown ? m_centreSizes : QList<int>{measuredShare, 100 - measuredShare});
}

void Workbench::showDraft()
{
    const auto capacity = m_workspace.capacity();
    QString label;
    if (const Gpu* gpu = m_workspace.library().catalog.gpu(m_workspace.plan().hardware.gpu.value);
        gpu != nullptr && capacity) {
        label = tr("%1 capacity %2").arg(toQString(gpu->title), gibText(*capacity));
    }
    m_peaksChart->setCapacity(capacity, label);
    m_channels->ranks()->setCapacity(capacity);
    m_stagesChart->setCapacity(capacity, label);
    m_timeline->chart()->setCapacity(capacity, label);
    const Footprint* footprint = m_workspace.footprint();
    if (footprint == nullptr) {
        const QString obstacle = m_workspace.obstacle();
        m_stagesChart->clear(obstacle.isEmpty() ? QString() : noEstimateText(obstacle));
        return;
    }
    // An outline around the very same bars would say nothing.
    const bool isBaseline = !m_workspace.hasPinnedBaseline() && m_workspace.draft().means(m_workspace.original());
    m_stagesChart->setBaselineName(m_workspace.baselineName());
    m_stagesChart->setFootprint(*footprint, isBaseline ? nullptr : m_workspace.baseline());
    m_stagesChart->setMeasured(m_workspace.measuredStages());
}

void Workbench::showTabTitles()
{
    const auto title = [](const QString& name, qint64 count) {
        return count > 0 ? QStringLiteral("%1 %2").arg(name, grouped(count)) : name;
    };
    m_tabs->setTabText(m_tabs->indexOf(m_diff), title(tr("Config diff"), m_diff->changedLines()));
    m_tabs->setTabText(m_tabs->indexOf(m_plan), title(tr("Plan"), m_workspace.isEmpty() ? 0 : m_plan->askedCount()));
    m_tabs->setTabText(m_tabs->indexOf(m_problems), title(tr("Problems"), m_workspace.problemCount()));
}

void Workbench::showProblems()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_problems);
}

void Workbench::showFit()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_fit);
}

void Workbench::showPlan()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_plan);
}

void Workbench::compareRuns(const QStringList& before)
{
    m_compare->compareWith(before);
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_compare);
}

void Workbench::showHistory()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_compare);
    m_compare->showView(ComparePanel::View::History);
}

/// The losses' runs are those that are compared, unless the losses come from logs with plans of their own.
void Workbench::lookUpLossCauses()
{
    LossPlans plans;
    if (const OtherRun* before = m_compare->before(); before != nullptr && before->plan) {
        plans.first = *before->plan;
    }
    if (const TrainingPlan* plan = planOfOpenLog(m_workspace)) {
        plans.second = *plan;
    }
    m_loss->setPlans(std::move(plans));
}

void Workbench::compareLosses(const QString& first, const QString& second)
{
    m_loss->compare(first, second);
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_loss);
}

void Workbench::closeComparisons()
{
    m_compare->clear();
    m_loss->clear();
}

bool Workbench::hasLosses() const
{
    return m_loss->isInUse();
}

void Workbench::showDiff()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_diff);
}

void Workbench::showLog()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_log);
}

void Workbench::showChannels()
{
    m_detailsDock->show();
    m_tabs->setCurrentWidget(m_channels);
}

} // namespace headroom
