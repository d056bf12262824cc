// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/problems_panel.h"

#include "models/problems_model.h"
#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace headroom {

ProblemsPanel::ProblemsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new ProblemsModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
    , m_view(new QTableView(this))
    , m_more(makeLabel({}, "muted", this))
    , m_stack(new QStackedWidget(this))
{
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(ProblemsModel::SortRole);
    m_view->setObjectName(QStringLiteral("problemsView"));
    m_view->setModel(m_sorted);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(-1, Qt::AscendingOrder);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setShowGrid(false);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->setAccessibleName(tr("Problems"));
    makeCopyable(*m_view);
    QLabel* empty = makeLabel(tr("Every line was understood."), "muted");
    empty->setAlignment(Qt::AlignCenter);
    auto* page = new QWidget(this);
    auto* pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(0, 0, 0, 0);
    pageLayout->addWidget(m_view);
    m_more->setContentsMargins(12, 0, 12, 4);
    pageLayout->addWidget(m_more);
    m_stack->addWidget(empty);
    m_stack->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    const auto activate = [this](const QModelIndex& index) {
        const Problem& problem = m_model->problem(m_sorted->mapToSource(index).row());
        emit placeActivated(toQString(problem.file), problem.line);
    };
    connect(m_view, &QTableView::activated, this, activate);
    connect(&workspace, &Workspace::documentsChanged, this, &ProblemsPanel::refresh);
    refresh();
}

void ProblemsPanel::refresh()
{
    m_model->setProblems(m_workspace.problems());
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 1 : 0);
    const qint64 unlisted = m_workspace.problemCount() - m_model->rowCount();
    m_more->setText(tr("and %1 more of the same log").arg(grouped(unlisted)));
    m_more->setVisible(unlisted > 0);
    m_view->resizeColumnToContents(ProblemsModel::Level);
    m_view->resizeColumnToContents(ProblemsModel::Place);
}

} // namespace headroom
