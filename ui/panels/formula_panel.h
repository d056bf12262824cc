// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QStackedWidget;
class QTreeView;

namespace headroom {

class TermsModel;
class ViewState;
class Workspace;

/// The working behind the estimate of the chosen stage, textbook and detailed figure side by side.
class FormulaPanel : public QWidget
{
    Q_OBJECT

public:
    FormulaPanel(Workspace& workspace, ViewState& view, QWidget* parent = nullptr);

    [[nodiscard]] QTreeView* view() const { return m_tree; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void fitColumns();
    [[nodiscard]] std::size_t stage() const;

    Workspace& m_workspace;
    ViewState& m_view;
    TermsModel* m_model;
    QLabel* m_title;
    QTreeView* m_tree;
    QLabel* m_empty;
    QStackedWidget* m_stack;
};

} // namespace headroom
