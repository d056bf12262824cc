// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

class QDockWidget;
class QTabWidget;

namespace headroom {

class ChannelsPanel;
class ComparePanel;
class DiffPanel;
class FindingsPanel;
class FitPanel;
class FormulaPanel;
class KnobsPanel;
class LogPanel;
class LossPanel;
class PeaksChart;
class PeaksPanel;
class Places;
class PlanPanel;
class ProblemsPanel;
class RunHistory;
class StagesChart;
class TimelinePanel;
class ViewState;
class Workspace;

/// The panels and charts of open files: knobs left, charts in the middle, findings right, details below. A window
/// inside the window, so that its docks can be saved, and put away while the start page shows.
class Workbench : public QMainWindow
{
    Q_OBJECT

public:
    explicit Workbench(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] ViewState& viewState() const { return *m_view; }
    [[nodiscard]] PeaksChart* peaksChart() const { return m_peaksChart; }
    [[nodiscard]] StagesChart* stagesChart() const { return m_stagesChart; }
    [[nodiscard]] TimelinePanel* timeline() const { return m_timeline; }
    [[nodiscard]] KnobsPanel* knobs() const { return m_knobs; }
    [[nodiscard]] FindingsPanel* findings() const { return m_findings; }
    [[nodiscard]] PeaksPanel* peaks() const { return m_peaks; }
    [[nodiscard]] FormulaPanel* formula() const { return m_formula; }
    [[nodiscard]] PlanPanel* planValues() const { return m_plan; }
    [[nodiscard]] FitPanel* fit() const { return m_fit; }
    [[nodiscard]] ComparePanel* compare() const { return m_compare; }
    [[nodiscard]] RunHistory& history() const { return *m_history; }
    [[nodiscard]] LossPanel* loss() const { return m_loss; }
    [[nodiscard]] DiffPanel* diff() const { return m_diff; }
    [[nodiscard]] ChannelsPanel* channels() const { return m_channels; }
    [[nodiscard]] LogPanel* logText() const { return m_log; }
    [[nodiscard]] ProblemsPanel* problems() const { return m_problems; }
    [[nodiscard]] QTabWidget* tabs() const { return m_tabs; }
    [[nodiscard]] Places& places() const { return *m_places; }

    [[nodiscard]] QList<QAction*> panelActions() const;
    void resetLayout();
    /// The details take the room of the charts as long as `action` is checked: by itself, by the button beside the
    /// tabs, by a double click on one.
    void enlargeDetailsBy(QAction& action);
    void showProblems();
    void showFit();
    void showPlan();
    void compareRuns(const QStringList& before);
    void showHistory();
    void compareLosses(const QString& first, const QString& second);
    /// Forgets the runs that were compared.
    void closeComparisons();
    /// There is something to see even where no file is open.
    [[nodiscard]] bool hasLosses() const;
    void showDiff();
    void showLog();
    void showChannels();

signals:
    void modelRequested();
    void exportRequested();
    void runRequested();
    void lossesRequested();
    void lossesChanged(); ///< hasLosses()

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QDockWidget* addDock(const QString& name, const QString& title, QWidget* content,
                                       Qt::DockWidgetArea area);
    void makeCentre();
    void makeDetails();
    void connectPanels();
    void showDocuments();
    void giveMeasuredRoom(bool isMeasured);
    void showDraft();
    void showTabTitles();
    void lookUpLossCauses();

    Workspace& m_workspace;
    ViewState* m_view;
    RunHistory* m_history;
    Places* m_places = nullptr;
    PeaksChart* m_peaksChart = nullptr;
    StagesChart* m_stagesChart = nullptr;
    TimelinePanel* m_timeline = nullptr;
    KnobsPanel* m_knobs;
    FindingsPanel* m_findings;
    PeaksPanel* m_peaks = nullptr;
    FormulaPanel* m_formula = nullptr;
    PlanPanel* m_plan = nullptr;
    FitPanel* m_fit = nullptr;
    ComparePanel* m_compare = nullptr;
    LossPanel* m_loss = nullptr;
    DiffPanel* m_diff = nullptr;
    ChannelsPanel* m_channels = nullptr;
    LogPanel* m_log = nullptr;
    ProblemsPanel* m_problems = nullptr;
    QTabWidget* m_tabs = nullptr;
    QDockWidget* m_knobsDock;
    QDockWidget* m_findingsDock;
    QDockWidget* m_detailsDock;
    QList<QWidget*> m_charts; ///< of the centre
    QList<int> m_centreSizes; ///< while the measured peaks were shown
    bool m_isEnlarged = false;
    int m_detailsHeight = 0; ///< before they took the room of the charts
    bool m_isLaidOut = false;
};

} // namespace headroom
