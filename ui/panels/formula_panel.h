// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

class QLabel;
class QSplitter;
class QStackedWidget;
class QTreeView;

namespace headroom {

class TermsModel;
struct Footprint;
class ViewState;
class Workspace;

/// The working behind the estimate of the chosen stage: the recipe by hand, and beside it what the tapes count.
class FormulaPanel : public QWidget
{
    Q_OBJECT

public:
    FormulaPanel(Workspace& workspace, ViewState& view, QWidget* parent = nullptr);

    [[nodiscard]] QTreeView* view() const { return m_recipe.tree; }
    /// Hidden where no tape describes the plan.
    [[nodiscard]] QTreeView* exactView() const { return m_exact.tree; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// One of the two workings.
    struct Side
    {
        QWidget* page = nullptr;
        QLabel* title = nullptr;
        QTreeView* tree = nullptr;
        TermsModel* model = nullptr;
    };
    [[nodiscard]] Side makeSide(const QString& name, const QString& accessibleName);
    void refresh();
    void showRecipe(const Footprint& footprint, int stage);
    void showExact(const Footprint& footprint, int stage);
    static void fitColumns(const Side& side);
    void orient();
    void shareWidth();
    void fit();

    Workspace& m_workspace;
    ViewState& m_view;
    QLabel* m_title;
    QSplitter* m_sides;
    QTimer m_fitting;
    bool m_isFitted = false;
    bool m_hasOwnShares = false; ///< the user moved the border between the two
    Side m_recipe, m_exact;
    QLabel* m_empty;
    QStackedWidget* m_stack;
};

} // namespace headroom
