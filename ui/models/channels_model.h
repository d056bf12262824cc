// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"
#include "workspace/channel.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace headroom {

class ViewState;

/// Every line the peaks chart can show, with its peak; the check box shows and hides it.
class ChannelsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Phase, Rank, Kind, Peak, Step, ColumnCount };
    enum Role { SortRole = Qt::UserRole, SearchRole };

    explicit ChannelsModel(ViewState& view, QObject* parent = nullptr);

    /// A channel and the record of its largest value.
    struct Row
    {
        Channel channel;
        std::optional<std::uint8_t> phase; ///< none: over phases
        std::size_t record = 0;
    };
    void setRows(std::shared_ptr<const Run> run, std::vector<Row> rows);
    [[nodiscard]] const Row& row(int number) const { return m_rows[static_cast<std::size_t>(number)]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    /// More lines than this beside those there at first are neither told apart nor drawn fast.
    static constexpr int mostAdded = 64;
    /// Shows as many of them as may be; the number left out.
    int show(const std::vector<Channel>& channels);

private:
    [[nodiscard]] QString display(const Row& row, int column) const;
    [[nodiscard]] QVariant sortKey(const Row& row, int column) const;
    [[nodiscard]] Bytes peakOf(const Row& row) const;

    ViewState& m_view;
    std::shared_ptr<const Run> m_run;
    std::vector<Row> m_rows;
};

/// One pass per kind of amount; may run on any thread.
[[nodiscard]] std::vector<ChannelsModel::Row> channelRows(const Run& run);

} // namespace headroom
