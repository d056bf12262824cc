// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/other_run.h"

#include <QFutureWatcher>
#include <QWidget>

class QLabel;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace headroom {

class FindingList;

/// The open run beside one before it: which settings differ, the peaks and times with their change, and what that says.
/// Follows the knobs where estimates are compared.
class ComparePanel : public QWidget
{
    Q_OBJECT

public:
    enum Column { Name, Before, After, Change, ColumnCount };

    explicit ComparePanel(Workspace& workspace, QWidget* parent = nullptr);

    /// The files of the run before; the newest choice wins.
    void compareWith(const QStringList& paths);
    void clear();
    [[nodiscard]] bool isBusy() const { return m_watcher.isRunning(); }
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QTableView* view() const { return m_view; }
    [[nodiscard]] FindingList* findings() const { return m_findings; }

signals:
    void filesRequested();
    void evidenceActivated(const QString& file, qint64 line);

protected:
    void showEvent(QShowEvent* event) override;

private:
    [[nodiscard]] QWidget* makePage();
    void take();
    void refresh();
    void showComparison(const RunComparison& comparison);
    void showNothing(const QString& reason);

    Workspace& m_workspace;
    QFutureWatcher<OtherRunAnswer> m_watcher;
    std::optional<OtherRun> m_before;
    QStandardItemModel* m_model;
    QTableView* m_view;
    QLabel* m_sentence;
    FindingList* m_findings;
    QLabel* m_empty;
    QStackedWidget* m_stack;
};

} // namespace headroom
