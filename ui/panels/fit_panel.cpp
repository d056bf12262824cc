// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/fit_panel.h"

#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>

namespace headroom {
namespace {

QString timeText(const FitProposal& proposal)
{
    const QString bound = proposal.isTimeLowerBound ? QStringLiteral("> ") : QString();
    return proposal.stepTime ? QStringLiteral("%1%2×").arg(bound, QLocale().toString(proposal.stepTime->ratio, 'f', 2))
                             : QString();
}

QStandardItem* cell(const QString& text, bool isNumber)
{
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    item->setTextAlignment((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    return item;
}

} // namespace

FitPanel::FitPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_model(new QStandardItemModel(0, ColumnCount, this))
    , m_view(new QTableView(this))
    , m_sentence(makeLabel({}, "strong", this))
    , m_margin(new QSpinBox(this))
    , m_keepBatch(new QCheckBox(tr("Global batch stays"), this))
    , m_keepGpus(new QCheckBox(tr("GPUs stay"), this))
    , m_keepTraining(new QCheckBox(tr("Training stays"), this))
    , m_apply(new QPushButton(tr("Apply"), this))
    , m_microBatch(makeLink({}, this))
    , m_sequence(makeLink({}, this))
    , m_fewestGpus(makeLink({}, this))
    , m_empty(makeLabel({}, "muted", this))
    , m_stack(new QStackedWidget(this))
{
    m_sentence->setWordWrap(true);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    auto* page = new QWidget(this);
    auto* pageLayout = new QVBoxLayout(page);
    pageLayout->setContentsMargins(12, 6, 12, 4);
    pageLayout->setSpacing(4);
    auto* options = new QHBoxLayout;
    makeOptions(*options);
    makeTable();
    auto* limits = new QHBoxLayout;
    makeLimits(*limits);
    pageLayout->addLayout(options);
    pageLayout->addWidget(m_sentence);
    pageLayout->addWidget(m_view, 1);
    pageLayout->addLayout(limits);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    // Findings come when a drag pauses; a search for every tick would be in vain.
    connect(&workspace, &Workspace::findingsChanged, this, &FitPanel::ask);
    connect(&workspace, &Workspace::draftChanged, this, &FitPanel::showReady);
    connect(&m_job, &FitJob::finished, this, &FitPanel::take);
    ask();
}

void FitPanel::makeOptions(QHBoxLayout& layout)
{
    constexpr int usualMargin = 5;
    constexpr int mostMargin = 90;
    m_margin->setRange(0, mostMargin);
    m_margin->setValue(usualMargin);
    m_margin->setSuffix(QStringLiteral(" %"));
    m_margin->setKeyboardTracking(false);
    m_margin->setToolTip(tr("Share of the GPU's memory that has to stay free"));
    m_margin->setAccessibleName(m_margin->toolTip());
    m_keepBatch->setToolTip(tr("Accumulation follows micro-batch and data-parallel size"));
    m_keepGpus->setToolTip(tr("The data-parallel size follows the other parallel sizes"));
    m_keepTraining->setToolTip(
        tr("Sequence length and the optimizer's precision stay: what is learned depends on them"));
    layout.setSpacing(12);
    layout.addWidget(makeLabel(tr("Keep free:"), "muted", this));
    layout.addWidget(m_margin);
    for (QCheckBox* box : {m_keepBatch, m_keepGpus, m_keepTraining}) {
        box->setChecked(true);
        layout.addWidget(box);
        connect(box, &QCheckBox::toggled, this, &FitPanel::ask);
    }
    connect(m_margin, &QSpinBox::valueChanged, this, &FitPanel::ask);
    layout.addStretch();
    m_apply->setObjectName(QStringLiteral("fitApplyButton"));
    m_apply->setProperty("role", QStringLiteral("mend"));
    m_apply->setToolTip(tr("Makes the chosen change; it can be undone"));
    layout.addWidget(m_apply);
    connect(m_apply, &QPushButton::clicked, this, [this] { apply(m_view->currentIndex().row()); });
}

void FitPanel::makeTable()
{
    m_model->setHorizontalHeaderLabels({tr("Change"), tr("Peak"), tr("Left"), tr("Step time"), tr("GPUs")});
    m_model->horizontalHeaderItem(Change)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_view->setObjectName(QStringLiteral("fitView"));
    m_view->setModel(m_model);
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setSelectionMode(QAbstractItemView::SingleSelection);
    m_view->setShowGrid(false);
    m_view->setAlternatingRowColors(true);
    m_view->setTabKeyNavigation(false);
    m_view->verticalHeader()->hide();
    m_view->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_view->horizontalHeader()->setSectionResizeMode(Change, QHeaderView::Stretch);
    m_view->setAccessibleName(tr("Changes that make the run fit"));
    makeCopyable(*m_view);
    connect(m_view, &QTableView::activated, this, [this](const QModelIndex& index) { apply(index.row()); });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &FitPanel::showReady);
}

void FitPanel::makeLimits(QHBoxLayout& layout)
{
    m_microBatch->setObjectName(QStringLiteral("fitMicroBatch"));
    m_sequence->setObjectName(QStringLiteral("fitSequence"));
    m_fewestGpus->setObjectName(QStringLiteral("fitFewestGpus"));
    for (QPushButton* link : {m_microBatch, m_sequence, m_fewestGpus}) {
        layout.addWidget(link);
    }
    layout.addStretch();
    const auto applyLimit = [this](const std::optional<FitLimit> FitReport::*which, const QString& text) {
        if (isCurrent() && *m_report.*which) {
            m_workspace.edit((*m_report.*which)->edits, text);
        }
    };
    connect(m_microBatch, &QPushButton::clicked, this,
            [=] { applyLimit(&FitReport::microBatch, tr("Largest micro-batch")); });
    connect(m_sequence, &QPushButton::clicked, this, [=] { applyLimit(&FitReport::sequence, tr("Longest sequence")); });
    connect(m_fewestGpus, &QPushButton::clicked, this, [=] { applyLimit(&FitReport::fewestGpus, tr("Fewest GPUs")); });
}

void FitPanel::ask()
{
    // Behind another tab nobody reads it.
    if (!isVisible()) {
        return;
    }
    const auto capacity = m_workspace.capacity();
    if (m_workspace.footprint() == nullptr) {
        const QString obstacle = m_workspace.obstacle();
        showNothing(obstacle.isEmpty() ? tr("Open a config, or choose a model, to see what makes it fit.")
                                       : noEstimateText(obstacle));
    } else if (!capacity) {
        showNothing(tr("Choose a GPU above to see what makes the run fit on it."));
    } else {
        FitRequest request{m_workspace.draft(),
                           *capacity,
                           m_margin->value() / 100.0,
                           {m_keepBatch->isChecked(), m_keepGpus->isChecked(), m_keepTraining->isChecked(),
                            m_workspace.fieldsLacking()}};
        if (!m_report) {
            m_empty->setText(tr("Searching…"));
        }
        m_job.start(request);
        showReady();
    }
}

void FitPanel::showNothing(const QString& reason)
{
    m_job.cancel();
    m_report.reset();
    m_model->removeRows(0, m_model->rowCount());
    m_empty->setText(reason);
    m_stack->setCurrentIndex(0);
}

void FitPanel::take(const FitJob::Report& report)
{
    if (!report->answer) {
        showNothing(noEstimateText(translated(report->answer.error())));
        return;
    }
    m_report = report;
    m_stack->setCurrentIndex(1);
    showSentence(*report);
    showRows(*report);
    const auto number = [](const std::optional<FitLimit>& limit) { return limit ? grouped(limit->value) : tr("none"); };
    showLimit(*m_microBatch, tr("Largest micro-batch: %1").arg(number(report->microBatch)), report->microBatch);
    showLimit(*m_sequence, tr("Longest sequence: %1").arg(number(report->sequence)), report->sequence);
    showLimit(*m_fewestGpus, tr("Fewest GPUs: %1").arg(number(report->fewestGpus)), report->fewestGpus);
    showReady();
}

void FitPanel::showSentence(const FitReport& report)
{
    const FitAnswer& answer = *report.answer;
    // Short enough for one line in a low window: the list below needs the other.
    const QString figures = tr("%1 of %2, %3 % kept free")
                                .arg(gibText(answer.peak), gibText(report.request.capacity),
                                     QLocale().toString(report.request.margin * 100, 'g', 3));
    if (answer.fits) {
        m_sentence->setText(tr("Fits as it is: %1.").arg(figures));
    } else if (!answer.singles.empty()) {
        m_sentence->setText(tr("Does not fit: %1. One change is enough, cheapest first:").arg(figures));
    } else if (!answer.pairs.empty()) {
        m_sentence->setText(tr("Does not fit: %1. No single change is enough; two are, cheapest first:").arg(figures));
    } else if (!answer.adapters.empty()) {
        m_sentence->setText(tr("Does not fit: %1. Neither one change nor two of the same training are enough; adapters "
                               "are, which train "
                               "less:")
                                .arg(figures));
    } else if (answer.closest) {
        m_sentence->setText(
            tr("Does not fit: %1. Neither one change nor two are enough; this comes closest:").arg(figures));
    } else {
        m_sentence->setText(
            tr("Does not fit: %1. Nothing that may change helps; let more change, or choose another GPU.")
                .arg(figures));
    }
}

void FitPanel::showRows(const FitReport& report)
{
    m_model->removeRows(0, m_model->rowCount());
    int row = 0;
    for (const FitProposal& proposal : proposals()) {
        const QString left = gibText(report.request.capacity - proposal.peak);
        m_model->appendRow({cell(translated(proposal.labels), false), cell(gibText(proposal.peak), true),
                            cell(left, true), cell(timeText(proposal), true),
                            cell(grouped(report.gpus[static_cast<std::size_t>(row)]), true)});
        QStringList edits;
        for (const PlanEdit& edit : proposal.edits) {
            edits.append(toQString(edit.field + " = " + edit.value));
        }
        m_model->item(row++, Change)->setToolTip(edits.join(QLatin1Char('\n')));
    }
    m_view->setVisible(row > 0);
    m_apply->setVisible(row > 0);
    for (int column = Change + 1; column < m_model->columnCount(); ++column) {
        // Rows that came while the table was hidden have not been measured.
        m_view->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
    }
    if (row > 0) {
        m_view->setCurrentIndex(m_model->index(0, Change));
    }
}

void FitPanel::showLimit(QPushButton& link, const QString& text, const std::optional<FitLimit>& limit)
{
    const bool changes = limit && !limit->edits.empty();
    link.setText(text);
    link.setProperty("changes", changes);
    QStringList edits;
    if (changes) {
        for (const PlanEdit& edit : limit->edits) {
            edits.append(toQString(edit.field + " = " + edit.value));
        }
    }
    link.setToolTip(edits.join(QLatin1Char('\n')));
}

std::vector<FitProposal> FitPanel::proposals() const
{
    std::vector<FitProposal> all;
    if (m_report) {
        const FitAnswer& answer = *m_report->answer;
        all.insert(all.end(), answer.singles.begin(), answer.singles.end());
        all.insert(all.end(), answer.pairs.begin(), answer.pairs.end());
        if (answer.closest) {
            all.push_back(*answer.closest);
        }
        all.insert(all.end(), answer.adapters.begin(), answer.adapters.end());
    }
    return all;
}

bool FitPanel::isCurrent() const
{
    return m_report && !m_job.isRunning() && m_report->request.capacity == m_workspace.capacity()
        && m_report->request.draft.means(m_workspace.draft());
}

void FitPanel::showReady()
{
    const bool isReady = isCurrent();
    m_apply->setEnabled(isReady && m_view->currentIndex().isValid());
    for (QPushButton* link : {m_microBatch, m_sequence, m_fewestGpus}) {
        link->setEnabled(isReady && link->property("changes").toBool());
    }
}

QString FitPanel::sentence() const
{
    return m_stack->currentIndex() == 0 ? m_empty->text() : m_sentence->text();
}

void FitPanel::apply(int row)
{
    const std::vector<FitProposal> all = proposals();
    if (isCurrent() && row >= 0 && static_cast<std::size_t>(row) < all.size()) {
        const FitProposal& proposal = all[static_cast<std::size_t>(row)];
        m_workspace.edit(proposal.edits, translated(proposal.labels));
    }
}

void FitPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    ask();
}

} // namespace headroom
