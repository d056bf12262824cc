// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/plan_panel.h"

#include "models/plan_model.h"
#include "panels/copyable_view.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

namespace headroom {

/// What is known or asked for; with a search text what any column has of it.
class PlanFilter : public QSortFilterProxyModel
{
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setSearch(const QString& text, bool showsAll)
    {
        m_text = text;
        m_showsAll = showsAll;
        invalidateFilter();
    }

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override
    {
        if (!parent.isValid()) {
            return false; // groups stand when one of their rows does
        }
        const QModelIndex name = sourceModel()->index(row, PlanModel::Name, parent);
        if (m_text.isEmpty()) {
            return m_showsAll || name.data(PlanModel::IsStatedRole).toBool()
                || name.data(PlanModel::IsAskedRole).toBool();
        }
        bool isFound = name.data(PlanModel::FieldRole).toString().contains(m_text, Qt::CaseInsensitive)
            || parent.data().toString().contains(m_text, Qt::CaseInsensitive);
        for (int column = PlanModel::Value; column < PlanModel::ColumnCount; ++column) {
            isFound = isFound || name.siblingAtColumn(column).data().toString().contains(m_text, Qt::CaseInsensitive);
        }
        return isFound;
    }

private:
    QString m_text;
    bool m_showsAll = false;
};

PlanPanel::PlanPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new PlanModel(this))
    , m_filter(new PlanFilter(this))
    , m_view(new QTreeView(this))
    , m_search(new QLineEdit(this))
    , m_all(new QCheckBox(tr("&Values nobody stated"), this))
{
    m_filter->setRecursiveFilteringEnabled(true);
    m_filter->setSourceModel(m_model);
    m_view->setObjectName(QStringLiteral("planView"));
    m_view->setModel(m_filter);
    m_view->setUniformRowHeights(true);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_view->setExpandsOnDoubleClick(false);
    m_view->setTabKeyNavigation(false);
    m_view->setStatusTip(tr("Double click edits a value, or shows the line it comes from"));
    m_view->setAccessibleName(tr("Values of the plan"));
    m_view->header()->setStretchLastSection(true);
    const int character = fontMetrics().averageCharWidth();
    m_view->setColumnWidth(PlanModel::Name, character * 32);
    m_view->setColumnWidth(PlanModel::Value, character * 20);
    m_view->setColumnWidth(PlanModel::InEffect, character * 15);
    m_view->setTextElideMode(Qt::ElideMiddle); // a place keeps its line
    makeCopyable(*m_view);
    m_search->setObjectName(QStringLiteral("planSearch"));
    m_search->setPlaceholderText(tr("Search name, value or origin"));
    m_search->setAccessibleName(tr("Search the plan"));
    m_search->setClearButtonEnabled(true);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(12, 4, 12, 4);
    top->setSpacing(12);
    top->addWidget(m_search, 1);
    top->addWidget(m_all);
    top->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_view, 1);
    connect(m_search, &QLineEdit::textChanged, this, &PlanPanel::filter);
    connect(m_all, &QCheckBox::toggled, this, &PlanPanel::filter);
    connect(m_view, &QTreeView::doubleClicked, this, &PlanPanel::showPlace);
    connect(m_model, &PlanModel::editRequested, this, &PlanPanel::edit);
    connect(&workspace, &Workspace::draftChanged, this, [this] {
        if (isVisible()) {
            refresh();
        }
    });
    filter();
}

int PlanPanel::askedCount() const
{
    m_model->setPlans(m_workspace.plan(), m_workspace.original().plan);
    return m_model->askedCount();
}

void PlanPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
    if (const QModelIndex asked = m_filter->mapFromSource(m_model->firstAsked()); asked.isValid()) {
        m_view->setCurrentIndex(asked);
        m_view->scrollTo(asked, QAbstractItemView::PositionAtCenter);
    }
}

void PlanPanel::refresh()
{
    m_model->setPlans(m_workspace.plan(), m_workspace.original().plan);
    m_view->expandAll();
}

void PlanPanel::filter()
{
    m_filter->setSearch(m_search->text().trimmed(), m_all->isChecked());
    m_view->expandAll();
}

void PlanPanel::edit(const QString& field, const QString& value)
{
    const QString step = value.isEmpty() ? tr("Reset %1").arg(field) : QStringLiteral("%1 = %2").arg(field, value);
    m_workspace.edit({{field.toStdString(), value.toStdString()}}, step);
}

void PlanPanel::showPlace(const QModelIndex& shown)
{
    const QModelIndex index = m_filter->mapToSource(shown);
    const Origin origin = m_model->origin(index);
    if (index.column() == PlanModel::From && origin.source && origin.line > 0) {
        emit placeActivated(toQString(*origin.source), origin.line);
    }
}

} // namespace headroom
