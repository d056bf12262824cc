// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/channels_model.h"

#include "charts/metric_strips.h"
#include "charts/peak_grid.h"
#include "theme/theme.h"
#include "workspace/view_state.h"
#include "workspace/wording.h"

#include <QPainter>
#include <QPixmap>

#include <algorithm>
#include <map>

namespace headroom {
namespace {

QPixmap swatch(const QColor& color)
{
    constexpr int side = 10;
    QPixmap picture(side, side);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(1, 1, side - 2, side - 2);
    return picture;
}

void addRows(const Run& run, bool isReserved, std::vector<ChannelsModel::Row>& rows)
{
    GridOptions options;
    options.isReserved = isReserved;
    const PeakGrid grid = makePeakGrid(run, options);
    const std::vector<std::int64_t>& bytes = isReserved ? run.reservedBytes : run.allocatedBytes;
    const auto larger = [&](std::int64_t a, std::int64_t b) {
        return b == PeakGrid::none
            || (a != PeakGrid::none && bytes[static_cast<std::size_t>(a)] > bytes[static_cast<std::size_t>(b)]);
    };
    std::int64_t overPhases = PeakGrid::none;
    for (std::size_t column = 0; column < grid.columns; ++column) {
        std::int64_t overRanks = PeakGrid::none;
        const std::string& phase = run.phaseNames[grid.phases[column]];
        for (std::size_t row = 0; row < grid.ranks.size(); ++row) {
            const std::int64_t record = grid.at(row, column);
            if (larger(record, overRanks)) {
                overRanks = record;
            }
            if (record != PeakGrid::none && grid.ranks[row] >= 0) {
                rows.push_back(
                    {{phase, grid.ranks[row], isReserved}, grid.phases[column], static_cast<std::size_t>(record)});
            }
        }
        rows.push_back(
            {{phase, Channel::overRanks, isReserved}, grid.phases[column], static_cast<std::size_t>(overRanks)});
        if (larger(overRanks, overPhases)) {
            overPhases = overRanks;
        }
    }
    if (isReserved && overPhases != PeakGrid::none) {
        rows.push_back({{{}, Channel::overRanks, true}, {}, static_cast<std::size_t>(overPhases)});
    }
}

void addTimers(const TimerColumns& timers, const std::vector<std::string>& names, std::vector<ChannelsModel::Row>& rows)
{
    std::map<std::pair<std::uint16_t, int>, std::size_t> longest; // by name and rank
    for (std::size_t row = 0; row < timers.size(); ++row) {
        for (const int rank : {Channel::overRanks, static_cast<int>(timers.rank[row])}) {
            const auto [known, isNew] = longest.try_emplace({timers.name[row], rank}, row);
            if (!isNew && timers.seconds[row] > timers.seconds[known->second]) {
                known->second = row;
            }
        }
    }
    for (const auto& [channel, row] : longest) {
        rows.push_back({{names[channel.first], channel.second, false, true}, {}, row});
    }
}

} // namespace

std::vector<ChannelsModel::Row> channelRows(const Run& run)
{
    std::vector<ChannelsModel::Row> rows;
    addRows(run, false, rows);
    addRows(run, true, rows);
    addTimers(run.timers, run.timerNames, rows);
    // Those over ranks first, then rank by rank.
    std::stable_sort(rows.begin(), rows.end(), [](const ChannelsModel::Row& a, const ChannelsModel::Row& b) {
        return a.channel.rank < b.channel.rank;
    });
    return rows;
}

ChannelsModel::ChannelsModel(ViewState& view, QObject* parent)
    : QAbstractTableModel(parent)
    , m_view(view)
{
    connect(&view, &ViewState::channelsChanged, this, [this] {
        if (!m_rows.empty()) {
            emit dataChanged(index(0, Phase), index(rowCount() - 1, Phase), {Qt::CheckStateRole});
        }
    });
}

void ChannelsModel::setRows(std::shared_ptr<const Run> run, std::vector<Row> rows)
{
    beginResetModel();
    m_run = std::move(run);
    m_rows = std::move(rows);
    endResetModel();
}

int ChannelsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ChannelsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

Qt::ItemFlags ChannelsModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.column() == Phase ? flags | Qt::ItemIsUserCheckable : flags;
}

QVariant ChannelsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& at = row(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return display(at, index.column());
    case Qt::CheckStateRole:
        return index.column() == Phase ? QVariant(m_view.isShown(at.channel) ? Qt::Checked : Qt::Unchecked)
                                       : QVariant();
    case Qt::DecorationRole:
        return index.column() == Phase && !at.channel.isTimer
            ? QVariant(swatch(at.phase ? Theme::current().phase(*at.phase) : Theme::current().reserved))
            : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((index.column() >= Peak ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case SortRole:
        return sortKey(at, index.column());
    case SearchRole:
        return QStringList{display(at, Phase), display(at, Rank), display(at, Kind)}.join(u' ');
    default:
        return {};
    }
}

bool ChannelsModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (role != Qt::CheckStateRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return false;
    }
    const Channel& channel = row(index.row()).channel;
    if (value.value<Qt::CheckState>() == Qt::Checked) {
        return show({channel}) == 0;
    }
    m_view.setShown(channel, false);
    return true;
}

int ChannelsModel::show(const std::vector<Channel>& channels)
{
    auto room = mostAdded - static_cast<int>(m_view.addedChannels().size());
    std::vector<Channel> shown;
    int leftOut = 0;
    for (const Channel& channel : channels) {
        if (m_view.isShown(channel)) {
            continue;
        }
        if (channel.isShownAtFirst() || room-- > 0) {
            shown.push_back(channel);
        } else {
            ++leftOut;
        }
    }
    m_view.setShown(shown, true);
    return leftOut;
}

Bytes ChannelsModel::peakOf(const Row& row) const
{
    return {(row.channel.isReserved ? m_run->reservedBytes : m_run->allocatedBytes)[row.record]};
}

QString ChannelsModel::display(const Row& row, int column) const
{
    const bool isTimer = row.channel.isTimer;
    switch (column) {
    case Phase:
        return row.phase || isTimer ? toQString(row.channel.phase) : tr("all phases");
    case Rank:
        return row.channel.rank >= 0 ? tr("rank %1").arg(row.channel.rank) : tr("all, maximum");
    case Kind:
        return isTimer ? tr("time") : row.channel.isReserved ? tr("reserved") : tr("allocated");
    case Peak:
        return isTimer ? metricText(Metric::Timer, m_run->timers.seconds[row.record]) : gibText(peakOf(row), 2);
    default:
        return grouped((isTimer ? m_run->timers.step : m_run->step)[row.record]);
    }
}

QVariant ChannelsModel::sortKey(const Row& row, int column) const
{
    switch (column) {
    case Phase:
        return row.phase ? *row.phase : 256;
    case Rank:
        return row.channel.rank;
    case Kind:
        return (row.channel.isReserved ? 1 : 0) + (row.channel.isTimer ? 2 : 0);
    case Peak:
        return row.channel.isTimer ? static_cast<double>(m_run->timers.seconds[row.record])
                                   : static_cast<double>(peakOf(row).value);
    default:
        return static_cast<qint64>((row.channel.isTimer ? m_run->timers.step : m_run->step)[row.record]);
    }
}

QVariant ChannelsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((section >= Peak ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case Phase:
        return tr("Phase");
    case Rank:
        return tr("Rank");
    case Kind:
        return tr("Kind");
    case Peak:
        return tr("Peak");
    default:
        return tr("Step");
    }
}

} // namespace headroom
