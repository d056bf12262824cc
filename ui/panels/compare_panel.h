// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "panels/compare_series.h"

#include <QFutureWatcher>
#include <QWidget>

#include <array>

class QButtonGroup;
class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace headroom {

class FindingList;
class HistoryPanel;
class OverlayChart;
class RunHistory;
class StagePairsChart;

/// The open run beside one before it: which settings differ, the peaks and times with their change, both runs on the
/// same axes, and what that says. Follows the knobs where estimates are compared. Its third view is the history.
class ComparePanel : public QWidget
{
    Q_OBJECT

public:
    enum Column { Name, Before, After, Change, ColumnCount };
    enum class View { Figures, Chart, History };

    ComparePanel(Workspace& workspace, RunHistory& history, QWidget* parent = nullptr);

    /// The files of the run before; the newest choice wins.
    void compareWith(const QStringList& paths);
    void clear();
    void showView(View view);
    [[nodiscard]] View shownView() const { return m_view; }
    void showQuantity(ComparedQuantity quantity);
    [[nodiscard]] bool isBusy() const { return m_watcher.isRunning(); }
    [[nodiscard]] const OtherRun* before() const { return m_before ? &*m_before : nullptr; }
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QTableView* view() const { return m_table; }
    [[nodiscard]] FindingList* findings() const { return m_findings; }
    [[nodiscard]] OverlayChart* overlay() const { return m_overlay; }
    [[nodiscard]] StagePairsChart* stages() const { return m_stages; }
    [[nodiscard]] QComboBox* quantities() const { return m_quantities; }
    [[nodiscard]] HistoryPanel* history() const { return m_history; }

signals:
    void filesRequested();
    void beforeChanged(); ///< before()
    void evidenceActivated(const QString& file, qint64 line);

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    [[nodiscard]] QWidget* makeHeader();
    [[nodiscard]] QWidget* makePage();
    void makeTable();
    void take();
    void refresh();
    void showComparison(const ComparedRuns& runs);
    void showFigures(const RunComparison& comparison);
    void showCharts();
    void fillQuantities();
    void showNothing(const QString& reason);
    void arrange();
    void fitSentence();
    void gather(std::size_t side, const ComparedSide& run);

    Workspace& m_workspace;
    QFutureWatcher<OtherRunAnswer> m_watcher;
    std::optional<OtherRun> m_before;
    std::optional<ComparedRuns> m_runs;
    ComparedSeries m_series;
    std::array<std::shared_ptr<const Run>, 2> m_seriesOf; ///< the logs that m_series is of
    QStandardItemModel* m_model;
    QTableView* m_table;
    QLabel* m_sentence;
    QString m_text; ///< of the sentence, as much of which is shown as there is room for
    FindingList* m_findings;
    OverlayChart* m_overlay;
    StagePairsChart* m_stages;
    HistoryPanel* m_history;
    QComboBox* m_quantities;
    QButtonGroup* m_views;
    QPushButton* m_other;
    QLabel* m_empty;
    QStackedWidget* m_inner; ///< table and charts
    QStackedWidget* m_stack; ///< start, comparison, history
    View m_view = View::Figures;
};

} // namespace headroom
