// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/compare_panel.h"

#include "charts/gib_text.h"
#include "panels/copyable_view.h"
#include "panels/finding_list.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

namespace headroom {
namespace {

QString emptyText()
{
    return ComparePanel::tr("Choose the log or the config of another run, the one before, to see what changed since\n"
                            "and what it did to memory and speed.");
}

QString sideText(const RunFigures& figures)
{
    const QString name = toQString(figures.name);
    return figures.isEstimate ? ComparePanel::tr("%1 (estimate)").arg(name) : name;
}

QString percentText(double before, double after)
{
    if (before <= 0) {
        return {};
    }
    const double change = 100 * (after / before - 1);
    return QStringLiteral("%1%2 %").arg(change < 0 ? QString() : QStringLiteral("+"),
                                        QLocale().toString(change, 'f', 1));
}

/// The rows of the table: settings first, as they are the reason for the rest.
class Rows
{
public:
    explicit Rows(QStandardItemModel& model)
        : m_model(model)
    {
        model.removeRows(0, model.rowCount());
    }

    void setting(const FieldDifference& field)
    {
        const auto value
            = [](const std::string& text) { return text.empty() ? ComparePanel::tr("not set") : toQString(text); };
        add(toQString(field.key), value(field.before), value(field.after), ComparePanel::tr("setting"));
    }
    void bytes(const QString& name, std::optional<Bytes> before, std::optional<Bytes> after)
    {
        if (!before && !after) {
            return;
        }
        QString change;
        if (before && after) {
            change = QStringLiteral("%1, %2").arg(
                differenceText(*after - *before),
                percentText(static_cast<double>(before->value), static_cast<double>(after->value)));
        }
        add(name, before ? bytesText(*before) : QString(), after ? bytesText(*after) : QString(), change);
    }
    void number(const QString& name, std::optional<double> before, std::optional<double> after)
    {
        const auto text
            = [](std::optional<double> value) { return value ? QLocale().toString(*value, 'g', 6) : QString(); };
        if (before || after) {
            add(name, text(before), text(after), before && after ? percentText(*before, *after) : QString());
        }
    }

private:
    void add(const QString& name, const QString& before, const QString& after, const QString& change)
    {
        QList<QStandardItem*> items;
        for (const QString& text : {name, before, after, change}) {
            items.append(new QStandardItem(text));
            items.back()->setEditable(false);
            items.back()->setTextAlignment((items.size() == 1 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        }
        m_model.appendRow(items);
    }

    QStandardItemModel& m_model;
};

} // namespace

ComparePanel::ComparePanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new QStandardItemModel(0, ColumnCount, this))
    , m_view(new QTableView(this))
    , m_sentence(makeLabel({}, "strong", this))
    , m_findings(new FindingList(this))
    , m_empty(makeLabel(emptyText(), "muted", this))
    , m_stack(new QStackedWidget(this))
{
    QPushButton* choose = makeLink(tr("Compare with…"), this);
    choose->setObjectName(QStringLiteral("chooseBeforeButton"));
    m_stack->addWidget(makeStart(m_empty, choose, this));
    m_stack->addWidget(makePage());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    connect(choose, &QPushButton::clicked, this, &ComparePanel::filesRequested);
    connect(m_findings, &FindingList::evidenceActivated, this, &ComparePanel::evidenceActivated);
    connect(&m_watcher, &QFutureWatcher<OtherRunAnswer>::finished, this, &ComparePanel::take);
    connect(&workspace, &Workspace::findingsChanged, this, &ComparePanel::refresh);
    connect(&workspace, &Workspace::replayChanged, this, &ComparePanel::refresh);
}

QWidget* ComparePanel::makePage()
{
    auto* page = new QWidget(this);
    QPushButton* other = makeLink(tr("Other run…"), page);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(12, 4, 8, 2);
    m_sentence->setWordWrap(true);
    line->addWidget(m_sentence, 1);
    line->addWidget(other);
    m_model->setHorizontalHeaderLabels({tr("What"), tr("Before"), tr("After"), tr("Change")});
    for (int column = 0; column < m_model->columnCount(); ++column) {
        const Qt::Alignment side = column == Name ? Qt::AlignLeft : Qt::AlignRight;
        m_model->horizontalHeaderItem(column)->setTextAlignment(side | Qt::AlignVCenter);
    }
    m_view->setObjectName(QStringLiteral("compareView"));
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setShowGrid(false);
    m_view->setAlternatingRowColors(true);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_view->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_view->setAccessibleName(tr("The runs side by side"));
    makeCopyable(*m_view);
    auto* splitter = new QSplitter(Qt::Horizontal, page);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(m_view);
    splitter->addWidget(m_findings);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(line);
    layout->addWidget(splitter, 1);
    connect(other, &QPushButton::clicked, this, &ComparePanel::filesRequested);
    return page;
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
    if (m_stack->currentIndex() == 0) {
        m_empty->setText(tr("Opening %1…").arg(fileName(files.front())));
    }
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
}

void ComparePanel::refresh()
{
    // Behind another tab nobody reads it.
    if (!m_before || !isVisible()) {
        return;
    }
    if (const auto comparison = headroom::compareWith(*m_before, m_workspace)) {
        showComparison(*comparison);
    } else {
        showNothing(translated(comparison.error()));
    }
}

void ComparePanel::showComparison(const RunComparison& comparison)
{
    const RunFigures& before = comparison.before;
    const RunFigures& after = comparison.after;
    m_sentence->setText(tr("%1, then %2").arg(sideText(before), sideText(after)));
    Rows rows(*m_model);
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
    m_stack->setCurrentIndex(1);
}

void ComparePanel::showNothing(const QString& reason)
{
    m_model->removeRows(0, m_model->rowCount());
    m_findings->setFindings({});
    m_empty->setText(reason);
    m_stack->setCurrentIndex(0);
}

QString ComparePanel::sentence() const
{
    return m_stack->currentIndex() == 0 ? m_empty->text() : m_sentence->text();
}

void ComparePanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    refresh();
}

} // namespace headroom
