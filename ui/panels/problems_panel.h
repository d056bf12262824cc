// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace headroom {

class ProblemsModel;
class Workspace;

/// What was not understood, with its place. Activating a row shows the line, or opens the file.
class ProblemsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit ProblemsPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] QTableView* view() const { return m_view; }

signals:
    void placeActivated(const QString& file, qint64 line);

private:
    void refresh();

    Workspace& m_workspace;
    ProblemsModel* m_model;
    QSortFilterProxyModel* m_sorted;
    QTableView* m_view;
    QLabel* m_more;
    QStackedWidget* m_stack;
};

} // namespace headroom
