// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"
#include "workspace/log_overview.h"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace headroom {

/// The peaks of every phase and the largest values of a log, largest first.
class PeaksModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { What, Phase, Allocated, Reserved, Step, Rank, Place, ColumnCount };
    enum Role { SortRole = Qt::UserRole, RecordRole };

    explicit PeaksModel(QObject* parent = nullptr);

    /// Null: no log.
    void setLog(std::shared_ptr<const Run> run, const LogOverview& overview);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row
    {
        std::size_t record;
        bool isPhasePeak;
        int place; ///< 1-based among the largest values, 0: not one of them
    };

    [[nodiscard]] QString display(const Row& row, const Record& record, int column) const;
    [[nodiscard]] static QVariant sortKey(const Row& row, const Record& record, int column);

    std::shared_ptr<const Run> m_run;
    std::vector<Row> m_rows;
};

} // namespace headroom
