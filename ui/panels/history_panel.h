// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/history.h"

#include <QWidget>

class QLabel;
class QSplitter;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace headroom {

class FindingList;
class OverlayChart;
class RunHistory;

/// The runs of the history in order: what each changed and did, their peaks as a chart, and what the chosen run's
/// change says. Names are edited in place.
class HistoryPanel : public QWidget
{
    Q_OBJECT

public:
    enum Column { Number, Name, Changed, Allocated, Reserved, Device, StepTime, Speed, Verdict, ColumnCount };

    explicit HistoryPanel(RunHistory& history, QWidget* parent = nullptr);

    /// The run chosen in the table.
    [[nodiscard]] std::optional<std::size_t> chosen() const;
    void choose(std::size_t place);
    void editName();
    /// "4 runs, changes against the run before"
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QTableView* view() const { return m_table; }
    [[nodiscard]] OverlayChart* chart() const { return m_chart; }
    [[nodiscard]] FindingList* findings() const { return m_findings; }

signals:
    void addRequested();
    void chosenChanged();
    void sentenceChanged();
    void evidenceActivated(const QString& file, qint64 line);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void makeTable();
    void refresh();
    void showRow(int row);
    void showFindings();
    void arrange();

    RunHistory& m_history;
    QStandardItemModel* m_model;
    QTableView* m_table;
    OverlayChart* m_chart;
    FindingList* m_findings;
    QSplitter* m_both; ///< table and what belongs to it
    QSplitter* m_lower; ///< chart and findings
    QStackedWidget* m_stack;
    bool m_isFilling = false;
};

} // namespace headroom
