// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/history_panel.h"

#include "charts/gib_text.h"
#include "charts/overlay_chart.h"
#include "panels/compare_series.h"
#include "panels/copyable_view.h"
#include "panels/finding_list.h"
#include "panels/styled.h"
#include "theme/theme.h"
#include "workspace/run_history.h"
#include "workspace/wording.h"

#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

constexpr int wide = 140; ///< average characters: room for the chart beside the table
constexpr int high = 20; ///< lines of text: room for the chart and the findings below it
constexpr int mostName = 26; ///< average characters of a run's name, and of what it changed

QString figureText(std::optional<Bytes> before, std::optional<Bytes> now)
{
    if (!now) {
        return {};
    }
    const QString change
        = before ? percentText(static_cast<double>(before->value), static_cast<double>(now->value)) : QString();
    return change.isEmpty() ? bytesText(*now) : QStringLiteral("%1  %2").arg(bytesText(*now), change);
}

QString figureText(std::optional<double> before, std::optional<double> now)
{
    if (!now) {
        return {};
    }
    const QString text = numberText(*now);
    const QString change = before ? percentText(*before, *now) : QString();
    return change.isEmpty() ? text : QStringLiteral("%1  %2").arg(text, change);
}

QString allChanges(const HistoryStep& step)
{
    QStringList lines;
    for (const ChangedVariable& variable : step.change ? step.change->variables : std::vector<ChangedVariable>()) {
        for (const FieldDifference& field : variable.differences) {
            lines.append(QStringLiteral("%1: %2 → %3")
                             .arg(toQString(field.key), toQString(field.before), toQString(field.after)));
        }
    }
    return lines.join(QLatin1Char('\n'));
}

QString changedText(const HistoryStep& step)
{
    if (!step.change) {
        return {};
    }
    if (!step.change->hasPlans) {
        return HistoryPanel::tr("settings unknown");
    }
    return step.change->variables.empty() ? HistoryPanel::tr("nothing") : changesText(step.change->variables);
}

} // namespace

HistoryPanel::HistoryPanel(RunHistory& history, QWidget* parent)
    : QWidget(parent)
    , m_history(history)
    , m_model(new QStandardItemModel(0, ColumnCount, this))
    , m_table(new QTableView(this))
    , m_chart(new OverlayChart(this))
    , m_findings(new FindingList(this))
    , m_both(new QSplitter(Qt::Vertical, this))
    , m_lower(new QSplitter(Qt::Horizontal, this))
    , m_stack(new QStackedWidget(this))
{
    makeTable();
    QLabel* empty = makeLabel(tr("Add the run that is open; then change one thing, run it and add it again.\n"
                                 "Each run stands beside the one before, with what changed and what it did."),
                              "muted", this);
    QPushButton* add = makeLink(tr("Add current run"), this);
    add->setObjectName(QStringLiteral("addRunButton"));
    m_stack->addWidget(makeStart(empty, add, this));
    m_both->setChildrenCollapsible(false);
    m_lower->setChildrenCollapsible(false);
    m_lower->addWidget(m_chart);
    m_lower->addWidget(m_findings);
    m_lower->setSizes({600, 400});
    m_both->addWidget(m_table);
    m_both->addWidget(m_lower);
    m_both->setSizes({400, 600});
    m_stack->addWidget(m_both);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(add, &QPushButton::clicked, this, &HistoryPanel::addRequested);
    connect(m_findings, &FindingList::evidenceActivated, this, &HistoryPanel::evidenceActivated);
    connect(&history, &RunHistory::changed, this, &HistoryPanel::refresh);
    connect(m_model, &QStandardItemModel::itemChanged, this, [this](const QStandardItem* item) {
        if (!m_isFilling && item->column() == Name) {
            m_history.rename(static_cast<std::size_t>(item->row()), item->text());
        }
    });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        showFindings();
        emit chosenChanged();
    });
    refresh();
}

void HistoryPanel::makeTable()
{
    m_model->setHorizontalHeaderLabels({QString(), tr("Run"), tr("Changed"), tr("Allocated"), tr("Reserved"),
                                        tr("Device"), tr("Step time, s"), tr("Tokens/s"), tr("Verdict")});
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const bool isNumber = column == Number || (column >= Allocated && column <= Speed);
        m_model->horizontalHeaderItem(column)->setTextAlignment((isNumber ? Qt::AlignRight : Qt::AlignLeft)
                                                                | Qt::AlignVCenter);
    }
    m_table->setObjectName(QStringLiteral("historyView"));
    m_table->setModel(m_model);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    for (const Column column : {Name, Changed}) { // the figures have to be in sight
        m_table->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
        m_table->setColumnWidth(column, mostName * fontMetrics().averageCharWidth());
    }
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->setWordWrap(false); // would break a name at a hyphen and show its first line only
    m_table->setAccessibleName(tr("The runs in order"));
    makeCopyable(*m_table);
}

void HistoryPanel::refresh()
{
    const std::optional<std::size_t> before = chosen();
    const bool wasLast = before && *before + 1 == static_cast<std::size_t>(m_model->rowCount());
    const std::size_t count = m_history.runs().size();
    {
        const QScopedValueRollback filling(m_isFilling, true);
        m_model->setRowCount(static_cast<int>(count));
        for (int row = 0; row < m_model->rowCount(); ++row) {
            showRow(row);
        }
    }
    for (int column = Allocated; column <= Speed; ++column) {
        bool isTold = false;
        for (int row = 0; row < m_model->rowCount(); ++row) {
            isTold = isTold || !m_model->item(row, column)->text().isEmpty();
        }
        m_table->setColumnHidden(column, !isTold);
    }
    m_chart->setData(count > 0 ? std::make_shared<const OverlayData>(overlayOf(m_history.runs(), m_history.reference()))
                               : nullptr);
    m_stack->setCurrentIndex(count > 0 ? 1 : 0);
    if (count > 0) {
        choose(before && !wasLast ? std::min(*before, count - 1) : count - 1);
    }
    showFindings();
    arrange();
    emit chosenChanged();
    emit sentenceChanged();
}

void HistoryPanel::showRow(int row)
{
    const auto place = static_cast<std::size_t>(row);
    const RunFigures& now = m_history.runs()[place].figures;
    const HistoryStep& step = m_history.steps()[place];
    const std::optional<std::size_t> reference = m_history.reference();
    RunFigures base;
    if (reference != place && (reference || place > 0)) {
        base = m_history.runs()[reference.value_or(place - 1)].figures;
    }
    const QString number = QString::number(row + 1);
    const std::array<QString, ColumnCount> texts{reference == place ? QStringLiteral("◆ %1").arg(number) : number,
                                                 toQString(now.name),
                                                 changedText(step),
                                                 figureText(base.allocated, now.allocated),
                                                 figureText(base.reserved, now.reserved),
                                                 figureText(base.device, now.device),
                                                 figureText(base.stepSeconds, now.stepSeconds),
                                                 figureText(base.tokensPerSecond, now.tokensPerSecond),
                                                 translated(step.verdict())};
    for (int column = 0; column < ColumnCount; ++column) {
        auto* item = new QStandardItem(texts[static_cast<std::size_t>(column)]);
        const bool isNumber = column == Number || (column >= Allocated && column <= Speed);
        item->setEditable(column == Name);
        item->setTextAlignment((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        m_model->setItem(row, column, item);
    }
    m_model->item(row, Number)
        ->setToolTip(reference == place ? tr("The reference that all others are measured by") : QString());
    m_model->item(row, Name)->setToolTip(titleOf(now));
    m_model->item(row, Changed)->setToolTip(allChanges(step).isEmpty() ? texts[Changed] : allChanges(step));
    m_model->item(row, Verdict)->setToolTip(texts[Verdict]);
    if (step.isMixed() && !step.isToldApart) {
        m_model->item(row, Verdict)->setForeground(Theme::current().warning.text);
    }
}

void HistoryPanel::showFindings()
{
    const std::optional<std::size_t> place = chosen();
    std::vector<Finding> findings;
    if (place && *place < m_history.steps().size()) {
        const HistoryStep& step = m_history.steps()[*place];
        findings = step.change ? step.change->findings : std::vector<Finding>();
    }
    m_findings->setFindings(findings);
    arrange();
}

std::optional<std::size_t> HistoryPanel::chosen() const
{
    const QModelIndex index = m_table->currentIndex();
    return index.isValid() ? std::optional(static_cast<std::size_t>(index.row())) : std::nullopt;
}

void HistoryPanel::choose(std::size_t place)
{
    m_table->setCurrentIndex(m_model->index(static_cast<int>(place), Name));
}

void HistoryPanel::editName()
{
    if (const auto place = chosen()) {
        const QModelIndex index = m_model->index(static_cast<int>(*place), Name);
        if (QWidget* editor = m_table->indexWidget(index)) {
            return editor->setFocus(); // the name is being edited
        }
        m_table->setFocus();
        m_table->setCurrentIndex(index);
        m_table->edit(index);
    }
}

QString HistoryPanel::sentence() const
{
    const auto count = static_cast<int>(m_history.runs().size());
    if (count == 0) {
        return {};
    }
    const QString runs = tr("%n run(s)", nullptr, count);
    if (const auto reference = m_history.reference()) {
        return tr("%1, figures against %2").arg(runs, toQString(m_history.runs()[*reference].figures.name));
    }
    return tr("%1, each against the one before").arg(runs);
}

void HistoryPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

/// The table above the chart where there is height for both, beside it where there is width; else the table alone.
void HistoryPanel::arrange()
{
    const bool isHigh = height() > high * fontMetrics().height();
    const bool isWide = width() > wide * fontMetrics().averageCharWidth();
    const Qt::Orientation orientation = isHigh ? Qt::Vertical : Qt::Horizontal;
    if (m_both->orientation() != orientation) {
        m_both->setOrientation(orientation);
        m_both->setSizes(isHigh ? QList<int>{400, 600} : QList<int>{600, 400});
    }
    m_lower->setVisible(isHigh || isWide);
    m_findings->setVisible(isHigh && !m_findings->cards().empty());
}

} // namespace headroom
