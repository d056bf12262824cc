// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/formula_panel.h"

#include "footprint/estimate.h"
#include "models/terms_model.h"
#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {

FormulaPanel::FormulaPanel(Workspace& workspace, ViewState& view, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_model(new TermsModel(this))
    , m_title(makeLabel({}, "muted", this))
    , m_tree(new QTreeView(this))
    , m_empty(makeLabel({}, "muted", this))
    , m_stack(new QStackedWidget(this))
{
    m_tree->setObjectName(QStringLiteral("formulaView"));
    m_tree->setModel(m_model);
    m_tree->setUniformRowHeights(true);
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setAllColumnsShowFocus(true);
    m_tree->setTextElideMode(Qt::ElideRight);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(TermsModel::Formula, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(TermsModel::Value, QHeaderView::ResizeToContents);
    m_tree->setAccessibleName(tr("Formulas of the estimate"));
    makeCopyable(*m_tree);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto* page = new QWidget(this);
    auto* pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(0, 0, 0, 0);
    pageLayout->setSpacing(0);
    m_title->setWordWrap(true); // or it would widen the middle at the expense of the docks
    m_title->setContentsMargins(12, 6, 12, 2);
    pageLayout->addWidget(m_title);
    pageLayout->addWidget(m_tree);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(&workspace, &Workspace::draftChanged, this, &FormulaPanel::refresh);
    connect(&view, &ViewState::stageChanged, this, &FormulaPanel::refresh);
    connect(m_model, &TermsModel::modelReset, this, &FormulaPanel::fitColumns);
}

std::size_t FormulaPanel::stage() const
{
    return static_cast<std::size_t>(shownStage(*m_workspace.footprint(), m_view.stage()));
}

void FormulaPanel::refresh()
{
    // Behind another tab nobody reads it: a slider's tick need not pay for it.
    if (!isVisible()) {
        return;
    }
    const Footprint* footprint = m_workspace.footprint();
    m_stack->setCurrentIndex(footprint != nullptr ? 1 : 0);
    if (footprint == nullptr) {
        m_empty->setText(m_workspace.verdict().level == Verdict::Level::Unknown && m_workspace.log() == nullptr
                             ? m_workspace.verdict().sentence
                             : tr("Open a config, or choose a model, to see how its memory is worked out."));
        return;
    }
    const std::size_t number = stage();
    QString title = number == footprint->fullestStage && !m_view.stage()
        ? tr("Stage %1, the fullest. Choose another in the chart above.").arg(number)
        : tr("Stage %1 of %2").arg(number).arg(footprint->stages.size());
    const Calibration& calibration = m_workspace.draft().calibration;
    // The formulas are the recipe's, so their numbers must be too.
    Footprint recipe;
    if (!estimate(m_workspace.plan(), calibration, recipe)) {
        return;
    }
    if (footprint->engine != Engine::Textbook) {
        title += u' '
            + tr("This is the recipe by hand; with every tensor counted it peaks at %1.")
                  .arg(gibText(footprint->stages[number].device));
    }
    m_title->setText(title);
    m_model->setTerms(explain(m_workspace.plan(), calibration, recipe, number));
}

void FormulaPanel::fitColumns()
{
    m_tree->resizeColumnToContents(TermsModel::Name);
    const int most = std::max(1, width() / 3);
    m_tree->setColumnWidth(TermsModel::Name,
                           std::min(most, m_tree->columnWidth(TermsModel::Name) + fontMetrics().height()));
}

void FormulaPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
}

void FormulaPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fitColumns();
}

} // namespace headroom
