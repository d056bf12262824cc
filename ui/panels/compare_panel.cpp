// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/compare_panel.h"

#include "charts/gib_text.h"
#include "charts/overlay_chart.h"
#include "charts/stage_pairs_chart.h"
#include "panels/compare_rows.h"
#include "panels/copyable_view.h"
#include "panels/finding_list.h"
#include "panels/history_panel.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace headroom {
namespace {

QString emptyText()
{
    return ComparePanel::tr("Choose the log or the config of another run, the one before, to see what changed since\n"
                            "and what it did to memory and speed.");
}

} // namespace

ComparePanel::ComparePanel(Workspace& workspace, RunHistory& history, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new QStandardItemModel(0, ColumnCount, this))
    , m_table(new QTableView(this))
    , m_sentence(makeLabel({}, "strong", this))
    , m_findings(new FindingList(this))
    , m_overlay(new OverlayChart(this))
    , m_stages(new StagePairsChart(this))
    , m_history(new HistoryPanel(history, this))
    , m_quantities(new QComboBox(this))
    , m_views(new QButtonGroup(this))
    , m_other(makeLink(tr("Other run…"), this))
    , m_empty(makeLabel(emptyText(), "muted", this))
    , m_inner(new QStackedWidget(this))
    , m_stack(new QStackedWidget(this))
{
    QPushButton* choose = makeLink(tr("Compare with…"), this);
    choose->setObjectName(QStringLiteral("chooseBeforeButton"));
    makeTable();
    m_stack->addWidget(makeStart(m_empty, choose, this));
    m_stack->addWidget(makePage());
    m_stack->addWidget(m_history);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(m_stack, 1);
    connect(choose, &QPushButton::clicked, this, &ComparePanel::filesRequested);
    connect(m_other, &QPushButton::clicked, this, &ComparePanel::filesRequested);
    connect(m_findings, &FindingList::evidenceActivated, this, &ComparePanel::evidenceActivated);
    connect(m_history, &HistoryPanel::evidenceActivated, this, &ComparePanel::evidenceActivated);
    connect(m_history, &HistoryPanel::sentenceChanged, this, &ComparePanel::arrange);
    connect(m_quantities, &QComboBox::activated, this, &ComparePanel::showCharts);
    connect(&m_watcher, &QFutureWatcher<OtherRunAnswer>::finished, this, &ComparePanel::take);
    connect(&workspace, &Workspace::findingsChanged, this, &ComparePanel::refresh);
    connect(&workspace, &Workspace::replayChanged, this, &ComparePanel::refresh);
    arrange();
}

QWidget* ComparePanel::makeHeader()
{
    auto* header = new QWidget(this);
    auto* line = new QHBoxLayout(header);
    line->setContentsMargins(12, 4, 8, 4);
    line->setSpacing(0);
    m_sentence->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_sentence->installEventFilter(this);
    line->addWidget(m_sentence, 1);
    m_quantities->setObjectName(QStringLiteral("comparedQuantity"));
    m_quantities->setAccessibleName(tr("What the runs are compared in"));
    m_quantities->setToolTip(m_quantities->accessibleName());
    m_quantities->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    line->addSpacing(8);
    line->addWidget(m_quantities);
    line->addSpacing(8);
    const std::array<std::pair<View, QString>, 3> views{
        {{View::Figures, tr("Figures")}, {View::Chart, tr("Chart")}, {View::History, tr("History")}}};
    for (const auto& [view, title] : views) {
        auto* button = new QToolButton(this);
        button->setText(title);
        button->setCheckable(true);
        button->setProperty("segment", true);
        button->setFocusPolicy(Qt::StrongFocus);
        button->setAccessibleName(tr("Compare: %1").arg(title));
        m_views->addButton(button, static_cast<int>(view));
        line->addWidget(button);
        connect(button, &QToolButton::clicked, this, [this, chosen = view] { showView(chosen); });
    }
    line->addSpacing(4);
    line->addWidget(m_other);
    return header;
}

void ComparePanel::makeTable()
{
    m_model->setHorizontalHeaderLabels({tr("What"), tr("Before"), tr("After"), tr("Change")});
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const Qt::Alignment side = column == Name ? Qt::AlignLeft : Qt::AlignRight;
        m_model->horizontalHeaderItem(column)->setTextAlignment(side | Qt::AlignVCenter);
    }
    m_table->setObjectName(QStringLiteral("compareView"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(Change, QHeaderView::Stretch);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setAccessibleName(tr("The runs side by side"));
    makeCopyable(*m_table);
}

QWidget* ComparePanel::makePage()
{
    m_inner->addWidget(m_table);
    m_inner->addWidget(m_overlay);
    m_inner->addWidget(m_stages);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_inner);
    splitter->addWidget(m_findings);
    splitter->setStretchFactor(0, 5);
    splitter->setStretchFactor(1, 3);
    splitter->setSizes({500, 300});
    return splitter;
}

void ComparePanel::compareWith(const QStringList& paths)
{
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths) {
        files.push_back(toPath(path));
    }
    if (files.empty()) {
        return;
    }
    if (!m_runs) {
        m_empty->setText(tr("Opening %1…").arg(fileName(files.front())));
    }
    showView(m_view == View::History ? View::Figures : m_view);
    // A library of its own, as the work may outlast the workspace; the draft's model, so that one chosen by hand counts
    // for both.
    m_watcher.setFuture(
        openOtherRun(files, std::make_shared<const Library>(m_workspace.library()), m_workspace.plan()));
}

void ComparePanel::clear()
{
    m_watcher.setFuture({}); // what is still read is no longer of interest
    m_before.reset();
    showNothing(emptyText());
    emit beforeChanged();
}

void ComparePanel::take()
{
    if (m_watcher.future().resultCount() == 0) {
        return;
    }
    const OtherRunAnswer answer = m_watcher.result();
    if (*answer) {
        m_before = **answer;
        refresh();
    } else {
        m_before.reset();
        showNothing(translated(answer->error()));
    }
    emit beforeChanged();
}

void ComparePanel::refresh()
{
    // Behind another tab nobody reads it.
    if (!m_before || !isVisible()) {
        return;
    }
    if (auto runs = headroom::compareWith(*m_before, m_workspace)) {
        showComparison(*runs);
    } else {
        showNothing(translated(runs.error()));
    }
}

/// The records of a log by step, once for each log.
void ComparePanel::gather(std::size_t side, const ComparedSide& run)
{
    if (m_seriesOf[side] != run.run) {
        m_seriesOf[side] = run.run;
        m_series[side] = nullptr;
        if (run.run) {
            auto series = std::make_shared<PeakSeries>(makePeakSeries(*run.run));
            series->metrics = makeMetricLines(*run.run);
            m_series[side] = std::move(series);
        }
    }
}

void ComparePanel::showComparison(const ComparedRuns& runs)
{
    m_runs = runs;
    showFigures(runs.comparison);
    showCharts();
}

void ComparePanel::fillQuantities()
{
    const int chosen = m_quantities->currentData().isValid() ? m_quantities->currentData().toInt() : -1;
    m_quantities->clear();
    for (const ComparedQuantity quantity : quantitiesOf(*m_runs, m_series)) {
        m_quantities->addItem(titleOf(quantity), static_cast<int>(quantity));
    }
    m_quantities->setCurrentIndex(std::max(m_quantities->findData(chosen), 0));
}

void ComparePanel::showFigures(const RunComparison& comparison)
{
    const RunFigures& before = comparison.before;
    const RunFigures& after = comparison.after;
    CompareRows rows(*m_model);
    for (const ChangedVariable& variable : comparison.variables) {
        for (const FieldDifference& field : variable.differences) {
            rows.setting(field);
        }
    }
    rows.bytes(tr("Allocated peak"), before.allocated, after.allocated);
    for (std::size_t phase = 0; phase < before.phases.size(); ++phase) {
        rows.bytes(tr("Allocated in %1").arg(phaseName(static_cast<Phase>(phase))), before.phases[phase],
                   after.phases[phase]);
    }
    rows.bytes(tr("Reserved peak"), before.reserved, after.reserved);
    rows.bytes(tr("Device"), before.device, after.device);
    rows.number(tr("Step time, s"), before.stepSeconds, after.stepSeconds);
    rows.number(tr("Tokens/s"), before.tokensPerSecond, after.tokensPerSecond);
    m_findings->setFindings(comparison.findings);
}

void ComparePanel::showCharts()
{
    // Logs of a million lines are gathered only for somebody who looks.
    if (m_runs && m_view == View::Chart) {
        gather(0, m_runs->before);
        gather(1, m_runs->after);
        fillQuantities();
        const auto quantity = static_cast<ComparedQuantity>(m_quantities->currentData().toInt());
        if (quantity == ComparedQuantity::Stages) {
            m_stages->setPairs(std::make_shared<const StagePairs>(pairsOf(*m_runs)));
        } else {
            OverlayData overlay = overlayOf(*m_runs, m_series, quantity);
            if (const auto capacity = m_workspace.capacity(); overlay.isBytes() && capacity) {
                overlay.capacity = capacity;
                overlay.capacityLabel = tr("capacity %1").arg(gibText(*capacity));
            }
            m_overlay->setData(std::make_shared<const OverlayData>(std::move(overlay)));
        }
    }
    arrange();
}

void ComparePanel::showQuantity(ComparedQuantity quantity)
{
    const int index = m_quantities->findData(static_cast<int>(quantity));
    if (index >= 0) {
        m_quantities->setCurrentIndex(index);
        showCharts();
    }
}

void ComparePanel::showView(View view)
{
    m_view = view;
    showCharts();
}

void ComparePanel::arrange()
{
    m_views->button(static_cast<int>(m_view))->setChecked(true);
    const bool isHistory = m_view == View::History;
    m_quantities->setVisible(m_view == View::Chart && m_runs && m_quantities->count() > 1);
    m_other->setVisible(!isHistory && m_runs);
    QString text;
    if (isHistory) {
        text = m_history->sentence();
        m_stack->setCurrentWidget(m_history);
    } else if (m_runs) {
        text = tr("%1, then %2").arg(titleOf(m_runs->comparison.before), titleOf(m_runs->comparison.after));
        m_stack->setCurrentIndex(1);
        const bool isStages = m_quantities->currentData().toInt() == static_cast<int>(ComparedQuantity::Stages)
            && m_quantities->count() > 0;
        m_inner->setCurrentWidget(m_view == View::Figures ? static_cast<QWidget*>(m_table)
                                      : isStages          ? static_cast<QWidget*>(m_stages)
                                                          : m_overlay);
    } else {
        m_stack->setCurrentIndex(0);
    }
    m_text = text;
    m_sentence->setToolTip(text);
    fitSentence();
}

void ComparePanel::fitSentence()
{
    m_sentence->setText(m_sentence->fontMetrics().elidedText(m_text, Qt::ElideRight, m_sentence->width()));
    m_sentence->setAccessibleName(m_text);
}

bool ComparePanel::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_sentence && event->type() == QEvent::Resize) {
        fitSentence();
    }
    return QWidget::eventFilter(watched, event);
}

void ComparePanel::showNothing(const QString& reason)
{
    m_model->removeRows(0, m_model->rowCount());
    m_findings->setFindings({});
    m_overlay->setData(nullptr);
    m_stages->setPairs(nullptr);
    m_quantities->clear();
    m_runs.reset();
    m_empty->setText(reason);
    arrange();
}

QString ComparePanel::sentence() const
{
    return m_view != View::History && !m_runs ? m_empty->text() : m_text;
}

void ComparePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
}

} // namespace headroom
