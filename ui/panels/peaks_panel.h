// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace headroom {

class PeaksModel;
class Workspace;

/// The largest values of the log as a table.
class PeaksPanel : public QWidget
{
    Q_OBJECT

public:
    explicit PeaksPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] QTableView* view() const { return m_view; }

signals:
    void recordActivated(qint64 record);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    /// As wide as their contents, with air between them where there is room.
    void fitColumns();

    Workspace& m_workspace;
    PeaksModel* m_model;
    QSortFilterProxyModel* m_sorted;
    QTableView* m_view;
    QStackedWidget* m_stack;
};

} // namespace headroom
