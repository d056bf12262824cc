// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/peaks_model.h"

#include "workspace/wording.h"

#include <algorithm>

namespace headroom {

PeaksModel::PeaksModel(QObject* parent)
    : QAbstractTableModel(parent)
{
}

void PeaksModel::setLog(std::shared_ptr<const Run> run, const LogOverview& overview)
{
    beginResetModel();
    m_run = std::move(run);
    m_rows.clear();
    if (m_run) {
        int place = 0;
        for (const std::size_t record : overview.largest) {
            m_rows.push_back({record, false, ++place});
        }
        for (const LogOverview::PhasePeak& peak : overview.phasePeaks) {
            const auto known
                = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.record == peak.record; });
            if (known != m_rows.end()) {
                known->isPhasePeak = true;
            } else {
                m_rows.push_back({peak.record, true, 0});
            }
        }
        std::stable_sort(m_rows.begin(), m_rows.end(),
                         [](const Row& a, const Row& b) { return a.isPhasePeak > b.isPhasePeak; });
    }
    endResetModel();
}

int PeaksModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int PeaksModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PeaksModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const Record record = m_run->record(row.record);
    switch (role) {
    case Qt::DisplayRole:
        return display(row, record, index.column());
    case Qt::ToolTipRole:
        return m_run->hasAllocated(row.record)
            ? tr("%1 bytes allocated").arg(grouped(record.allocated.value))
            : tr("%1 bytes reserved").arg(grouped(record.reserved.value_or(Bytes{}).value));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(index.column() >= Allocated && index.column() <= Rank
                                       ? Qt::AlignRight | Qt::AlignVCenter
                                       : Qt::AlignLeft | Qt::AlignVCenter);
    case SortRole:
        return sortKey(row, record, index.column());
    case RecordRole:
        return static_cast<qint64>(row.record);
    default:
        return {};
    }
}

QString PeaksModel::display(const Row& row, const Record& record, int column) const
{
    switch (column) {
    case What:
        if (row.isPhasePeak) {
            return tr("peak of %1").arg(toQString(m_run->phaseNames[record.phase]));
        }
        return tr("value %1").arg(row.place);
    case Phase:
        return toQString(m_run->phaseNames[record.phase]);
    case Allocated:
        return m_run->hasAllocated(row.record) ? gibText(record.allocated, 2) : QString();
    case Reserved:
        return record.reserved ? gibText(*record.reserved, 2) : QString();
    case Step:
        return grouped(record.step);
    case Rank:
        return record.rank < 0 ? QString() : QString::number(record.rank);
    case Place:
        if (m_run->files.size() == 1) { // the chart says which; its name would leave no room for the numbers
            return grouped(record.line);
        }
        return QStringLiteral("%1:%2").arg(fileName(m_run->files[record.file]), QString::number(record.line));
    default:
        return {};
    }
}

QVariant PeaksModel::sortKey(const Row& row, const Record& record, int column)
{
    switch (column) {
    case What:
        return row.isPhasePeak ? static_cast<int>(record.phase) - 1000 : row.place;
    case Phase:
        return static_cast<int>(record.phase);
    case Allocated:
        return static_cast<qint64>(record.allocated.value);
    case Reserved:
        return static_cast<qint64>(record.reserved ? record.reserved->value : -1);
    case Step:
        return static_cast<qint64>(record.step);
    case Rank:
        return record.rank;
    default:
        return static_cast<qint64>(record.file) * (qint64{1} << 40) + record.line;
    }
}

QVariant PeaksModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(section >= Allocated && section <= Rank ? Qt::AlignRight | Qt::AlignVCenter
                                                                           : Qt::AlignLeft | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (section) {
    case What:
        return tr("What");
    case Phase:
        return tr("Phase");
    case Allocated:
        return tr("Allocated");
    case Reserved:
        return tr("Reserved");
    case Step:
        return tr("Step");
    case Rank:
        return tr("Rank");
    default:
        return tr("Line");
    }
}

} // namespace headroom
