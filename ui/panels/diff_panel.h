// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;
class QStackedWidget;
class QToolButton;

namespace headroom {

class DiffView;
class Workspace;

/// What the edits change in the config file.
class DiffPanel : public QWidget
{
    Q_OBJECT

public:
    explicit DiffPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] DiffView* view() const { return m_view; }
    [[nodiscard]] int changedLines() const;

signals:
    void changed();
    void exportRequested();

private:
    void refresh();
    void copy() const;

    Workspace& m_workspace;
    DiffView* m_view;
    QLabel* m_empty;
    QLabel* m_summary;
    QToolButton* m_whole;
    QStackedWidget* m_stack;
    QWidget* m_page;
};

} // namespace headroom
