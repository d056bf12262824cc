// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/peaks_panel.h"

#include "models/peaks_model.h"
#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/workspace.h"

#include <QHeaderView>
#include <QLabel>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

PeaksPanel::PeaksPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new PeaksModel(this))
    , m_sorted(new QSortFilterProxyModel(this))
    , m_view(new QTableView(this))
    , m_stack(new QStackedWidget(this))
{
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(PeaksModel::SortRole);
    m_view->setObjectName(QStringLiteral("peaksView"));
    m_view->setModel(m_sorted);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(-1, Qt::AscendingOrder); // as the model has it: phases first, then the largest
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setShowGrid(false);
    m_view->setAlternatingRowColors(true);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->setAccessibleName(tr("Largest values of the log"));
    makeCopyable(*m_view);
    QLabel* empty = makeLabel(tr("Open a log to see its largest values, with step, rank and line."), "muted");
    empty->setAlignment(Qt::AlignCenter);
    m_stack->addWidget(empty);
    m_stack->addWidget(m_view);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    const auto activate
        = [this](const QModelIndex& index) { emit recordActivated(index.data(PeaksModel::RecordRole).toLongLong()); };
    connect(m_view, &QTableView::activated, this, activate);
    connect(&workspace, &Workspace::documentsChanged, this, &PeaksPanel::refresh);
    refresh();
}

void PeaksPanel::refresh()
{
    const LoadedLog* log = m_workspace.log();
    m_model->setLog(log != nullptr ? log->run : nullptr, log != nullptr ? log->overview : LogOverview{});
    m_stack->setCurrentIndex(log != nullptr ? 1 : 0);
    if (log != nullptr) {
        m_view->setColumnHidden(PeaksModel::Reserved, log->run->reservedBytes.empty());
        fitColumns();
    }
}

void PeaksPanel::fitColumns()
{
    QHeaderView* header = m_view->horizontalHeader();
    header->setStretchLastSection(false); // its length would always be that of the view
    m_view->resizeColumnsToContents();
    constexpr int mostAir = 18;
    const int left = width() - header->length() - m_view->verticalScrollBar()->sizeHint().width();
    const int air = std::clamp(left / PeaksModel::Place, 0, mostAir);
    for (int column = 0; column < PeaksModel::Place; ++column) {
        m_view->setColumnWidth(column, m_view->columnWidth(column) + air);
    }
    header->setStretchLastSection(true);
}

void PeaksPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width()) {
        fitColumns();
    }
}

} // namespace headroom
