// SPDX-License-Identifier: GPL-3.0-or-later
#include "panels/channels_panel.h"

#include "charts/ranks_chart.h"
#include "panels/copyable_view.h"
#include "panels/styled.h"
#include "workspace/view_state.h"
#include "workspace/workspace.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

/// Rows with every word typed, in any order.
class WordFilter : public QSortFilterProxyModel
{
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setWords(const QString& text)
    {
        m_words = text.split(u' ', Qt::SkipEmptyParts);
        invalidateFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override
    {
        const QString text = sourceModel()->index(row, 0, parent).data(ChannelsModel::SearchRole).toString();
        return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) {
            // "rank 1" means rank 1 and not rank 12: numbers are whole words.
            return word.front().isDigit() ? text.split(u' ').contains(word) : text.contains(word, Qt::CaseInsensitive);
        });
    }

private:
    QStringList m_words;
};

} // namespace

ChannelsPanel::ChannelsPanel(Workspace& workspace, ViewState& view, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_state(view)
    , m_model(new ChannelsModel(view, this))
    , m_filtered(new WordFilter(this))
    , m_rank(new QComboBox)
    , m_filter(new QLineEdit)
    , m_table(new QTableView)
    , m_note(makeLabel({}, "muted"))
    , m_ranks(new RanksChart(view))
    , m_splitter(new QSplitter(Qt::Horizontal))
{
    m_filtered->setSourceModel(m_model);
    m_filtered->setSortRole(ChannelsModel::SortRole);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(makeList());
    m_splitter->addWidget(m_ranks);
    m_splitter->setStretchFactor(0, 1);
    m_splitter->setStretchFactor(1, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_splitter);
    connect(m_filter, &QLineEdit::textChanged, this,
            [this](const QString& text) { static_cast<WordFilter*>(m_filtered)->setWords(text); });
    connect(m_rank, &QComboBox::activated, this, [this](int index) {
        const QVariant rank = m_rank->itemData(index);
        m_state.setRank(rank.isValid() ? std::optional(rank.toInt()) : std::nullopt);
    });
    connect(&view, &ViewState::rankChanged, this, &ChannelsPanel::showRank);
    connect(&workspace, &Workspace::documentsChanged, this, &ChannelsPanel::refresh);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &ChannelsPanel::adopt);
    refresh();
}

QWidget* ChannelsPanel::makeList()
{
    m_rank->setAccessibleName(tr("Rank of the chart"));
    m_rank->setToolTip(tr("Whose values the chart shows: the largest of all ranks, or those of one"));
    m_filter->setObjectName(QStringLiteral("channelFilter"));
    m_filter->setPlaceholderText(tr("Filter: backward rank 3"));
    m_filter->setAccessibleName(tr("Filter"));
    m_filter->setClearButtonEnabled(true);
    m_table->setObjectName(QStringLiteral("channelsView"));
    m_table->setModel(m_filtered);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setAccessibleName(tr("Lines of the chart"));
    makeCopyable(*m_table);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 4, 10, 4);
    head->addWidget(m_rank);
    head->addWidget(m_filter, 1);
    auto* list = new QWidget;
    auto* layout = new QVBoxLayout(list);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(m_table, 1);
    layout->addWidget(makeButtons());
    return list;
}

QWidget* ChannelsPanel::makeButtons()
{
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(8, 0, 10, 2);
    layout->setSpacing(2);
    const auto add = [&](const QString& text, auto act) {
        QPushButton* button = makeLink(text);
        connect(button, &QPushButton::clicked, this, act);
        layout->addWidget(button);
    };
    add(tr("Show listed"), [this] { showListed(true); });
    add(tr("Hide listed"), [this] { showListed(false); });
    add(tr("As at first"), [this] { resetShown(); });
    layout->addWidget(m_note, 1);
    return bar;
}

void ChannelsPanel::refresh()
{
    const LoadedLog* log = m_workspace.log();
    const auto run = log != nullptr ? log->run : nullptr;
    m_ranks->setRun(run);
    // The newest wins: a watcher tells of the future it has last been given.
    m_watcher.setFuture(QtConcurrent::run([run] {
        return run ? Prepared{run, channelRows(*run), run->ranks()} : Prepared{};
    }));
}

void ChannelsPanel::adopt()
{
    Prepared prepared = m_watcher.result();
    m_model->setRows(prepared.run, std::move(prepared.rows));
    m_table->resizeColumnsToContents();
    if (prepared.run && !std::exchange(m_isLaidOut, true)) {
        constexpr int scrollBar = 16;
        const int list = m_table->horizontalHeader()->length() + scrollBar;
        const int map = std::max(m_splitter->width() - list, m_splitter->width() * 2 / 5);
        m_splitter->setSizes({m_splitter->width() - map, map});
    }
    m_rank->clear();
    m_rank->addItem(tr("Maximum of all ranks"));
    for (const std::int32_t rank : prepared.ranks) {
        m_rank->addItem(tr("Rank %1").arg(rank), rank);
    }
    m_rank->setEnabled(prepared.ranks.size() > 1);
    showRank();
}

void ChannelsPanel::showRank()
{
    const int index = m_state.rank() ? m_rank->findData(*m_state.rank()) : 0;
    m_rank->setCurrentIndex(std::max(index, 0));
}

void ChannelsPanel::showListed(bool isShown)
{
    std::vector<Channel> listed;
    for (int row = 0; row < m_filtered->rowCount(); ++row) {
        listed.push_back(m_model->row(m_filtered->mapToSource(m_filtered->index(row, 0)).row()).channel);
    }
    int leftOut = 0;
    if (isShown) {
        leftOut = m_model->show(listed);
    } else {
        m_state.setShown(listed, false);
    }
    m_note->setText(leftOut > 0 ? tr("%1 lines at most: %n left out", nullptr, leftOut).arg(ChannelsModel::mostAdded)
                                : QString());
}

void ChannelsPanel::resetShown()
{
    std::vector<Channel> atFirst;
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->row(row).channel.isShownAtFirst()) {
            atFirst.push_back(m_model->row(row).channel);
        }
    }
    m_state.setShown(m_state.addedChannels(), false);
    m_state.setShown(atFirst, true);
    m_note->clear();
}

} // namespace headroom
