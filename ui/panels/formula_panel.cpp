// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/formula_panel.h"

#include "footprint/estimate.h"
#include "footprint/explain_tapes.h"
#include "models/terms_model.h"
#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/replay_job.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

constexpr int leastCharactersBeside = 130;
constexpr int leastLinesBelow = 20;
constexpr int leastFormulaCharacters = 24;
constexpr int restMs = 100;

/// What the column's texts take, and a gap.
int widthOf(const QAbstractItemView& view, int column)
{
    return view.sizeHintForColumn(column) + view.fontMetrics().height();
}

} // namespace

FormulaPanel::FormulaPanel(Workspace& workspace, ViewState& view, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_view(view)
    , m_title(makeLabel({}, "muted", this))
    , m_sides(new QSplitter(Qt::Horizontal))
    , m_recipe(makeSide(QStringLiteral("formulaView"), tr("Formulas of the estimate")))
    , m_exact(makeSide(QStringLiteral("exactFormulaView"), tr("Sums of every tensor")))
    , m_empty(makeLabel({}, "muted", this))
    , m_stack(new QStackedWidget(this))
{
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto* page = new QWidget(this);
    auto* pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(0, 0, 0, 0);
    pageLayout->setSpacing(0);
    m_title->setWordWrap(true); // or it would widen the middle at the expense of the docks
    m_title->setContentsMargins(12, 6, 12, 2);
    m_sides->setChildrenCollapsible(false);
    m_sides->addWidget(m_recipe.page);
    m_sides->addWidget(m_exact.page);
    pageLayout->addWidget(m_title);
    pageLayout->addWidget(m_sides, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    m_fitting.setSingleShot(true);
    m_fitting.setInterval(restMs);
    connect(&m_fitting, &QTimer::timeout, this, &FormulaPanel::fit);
    connect(m_sides, &QSplitter::splitterMoved, this, [this] { m_hasOwnShares = true; });
    connect(&workspace, &Workspace::draftChanged, this, &FormulaPanel::refresh);
    connect(&workspace, &Workspace::replayChanged, this, &FormulaPanel::refresh);
    connect(&view, &ViewState::stageChanged, this, &FormulaPanel::refresh);
}

FormulaPanel::Side FormulaPanel::makeSide(const QString& name, const QString& accessibleName)
{
    Side side;
    side.page = new QWidget(this);
    side.title = makeLabel({}, "strong", side.page);
    side.title->setContentsMargins(12, 2, 12, 2);
    side.title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    side.tree = new QTreeView(side.page);
    side.model = new TermsModel(side.tree);
    side.tree->setObjectName(name);
    side.tree->setModel(side.model);
    side.tree->setUniformRowHeights(true);
    side.tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    side.tree->setAllColumnsShowFocus(true);
    side.tree->setTextElideMode(Qt::ElideRight);
    side.tree->setHeaderHidden(true);
    side.tree->header()->setStretchLastSection(false);
    side.tree->header()->setSectionResizeMode(TermsModel::Formula, QHeaderView::Stretch);
    side.tree->header()->setSectionResizeMode(TermsModel::Value, QHeaderView::ResizeToContents);
    side.tree->setAccessibleName(accessibleName);
    makeCopyable(*side.tree);
    auto* layout = new QVBoxLayout(side.page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(side.title);
    layout->addWidget(side.tree);
    side.tree->installEventFilter(this);
    return side;
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
    const int stage = shownStage(*footprint, m_view.stage());
    m_title->setText(static_cast<std::size_t>(stage) == footprint->fullestStage && !m_view.stage()
                         ? tr("Stage %1, the fullest. Choose another in the chart of stages.").arg(stage)
                         : tr("Stage %1 of %2").arg(stage).arg(footprint->stages.size()));
    showRecipe(*footprint, stage);
    showExact(*footprint, stage);
    if (std::exchange(m_isFitted, true)) {
        m_fitting.start(); // once a slider rests: measuring every text costs a tick dearly
    } else {
        fit();
    }
}

void FormulaPanel::fit()
{
    fitColumns(m_recipe);
    fitColumns(m_exact);
    orient();
    shareWidth();
}

void FormulaPanel::showRecipe(const Footprint& footprint, int stage)
{
    const auto index = static_cast<std::size_t>(stage);
    const Calibration& calibration = m_workspace.draft().calibration;
    // The formulas are the recipe's, so their numbers must be too.
    Footprint recipe;
    if (!estimate(m_workspace.plan(), calibration, recipe) || index >= recipe.stages.size()) {
        return;
    }
    QString title = tr("By hand: %1").arg(gibText(recipe.stages[index].device));
    if (footprint.engine == Engine::Textbook && footprint.notExact) {
        title += QStringLiteral(" · ") + tr("not exact: %1").arg(translated(*footprint.notExact));
    }
    m_recipe.title->setText(title);
    m_recipe.title->setToolTip(title);
    m_recipe.model->setTerms(explain(m_workspace.plan(), calibration, recipe, index));
}

void FormulaPanel::showExact(const Footprint& footprint, int stage)
{
    const bool isExact = footprint.engine != Engine::Textbook;
    m_exact.page->setVisible(isExact);
    if (!isExact) {
        return;
    }
    const StageFootprint& figures = footprint.stages[static_cast<std::size_t>(stage)];
    m_exact.title->setText(tr("Every tensor: %1").arg(gibText(figures.device)));
    // What fills the peak is the replay's; while the instant figures stand in, it would not add up to them.
    const PeakTensors* tensors
        = footprint.engine == Engine::Replay ? m_workspace.replayJob().peakTensors(stage) : nullptr;
    m_exact.model->setTerms(explainTapes(m_workspace.plan(), figures, tensors));
}

/// Of a formula a few letters say nothing: where there is room for no more, it is left to the tool tip.
void FormulaPanel::fitColumns(const Side& side)
{
    QHeaderView* header = side.tree->header();
    const int name = widthOf(*side.tree, TermsModel::Name);
    const int left = side.tree->width() - name - widthOf(*side.tree, TermsModel::Value);
    const bool isCramped = left < leastFormulaCharacters * side.tree->fontMetrics().averageCharWidth();
    side.tree->setColumnHidden(TermsModel::Formula, isCramped);
    header->setSectionResizeMode(TermsModel::Name, isCramped ? QHeaderView::Stretch : QHeaderView::Interactive);
    if (!isCramped) {
        side.tree->setColumnWidth(TermsModel::Name, name);
    }
}

/// Beside each other, the sums need room for names and amounts only; the formulas take what is left.
void FormulaPanel::shareWidth()
{
    if (m_hasOwnShares || !m_exact.page->isVisibleTo(this)) {
        return;
    }
    const QTreeView& tree = *m_exact.tree;
    const int sums = widthOf(tree, TermsModel::Name) + widthOf(tree, TermsModel::Value) + tree.fontMetrics().height();
    const bool isBeside = m_sides->orientation() == Qt::Horizontal;
    const int second = isBeside ? std::min(sums, width() / 2) : height() / 2;
    m_sides->setSizes({(isBeside ? width() : height()) - second, second});
}

void FormulaPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
}

void FormulaPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    orient();
    shareWidth();
}

/// Side by side the formulas may be cut off; below each other they need the height for it.
void FormulaPanel::orient()
{
    const QFontMetrics metrics = fontMetrics();
    const bool isHigh = height() > leastLinesBelow * metrics.lineSpacing();
    const QTreeView& formulas = *m_recipe.tree;
    const int whole = widthOf(formulas, TermsModel::Name) + widthOf(formulas, TermsModel::Formula)
        + widthOf(formulas, TermsModel::Value) + widthOf(*m_exact.tree, TermsModel::Name)
        + widthOf(*m_exact.tree, TermsModel::Value);
    const bool isNarrow = width() < std::max(leastCharactersBeside * metrics.averageCharWidth(), whole);
    m_sides->setOrientation(isNarrow && isHigh ? Qt::Vertical : Qt::Horizontal);
}

bool FormulaPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize) {
        fitColumns(watched == m_recipe.tree ? m_recipe : m_exact);
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace headroom
