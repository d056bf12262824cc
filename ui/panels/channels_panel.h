// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/channels_model.h"

#include <QFutureWatcher>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QSplitter;
class QTableView;

namespace headroom {

class RanksChart;
class ViewState;
class Workspace;

/// Which lines the peaks chart shows, per phase, rank and kind of memory, and beside it the peaks of all ranks.
class ChannelsPanel : public QWidget
{
    Q_OBJECT

public:
    ChannelsPanel(Workspace& workspace, ViewState& view, QWidget* parent = nullptr);

    [[nodiscard]] QTableView* view() const { return m_table; }
    [[nodiscard]] RanksChart* ranks() const { return m_ranks; }
    [[nodiscard]] ChannelsModel* model() const { return m_model; }

private:
    QWidget* makeList();
    QWidget* makeButtons();
    void refresh();
    void adopt();
    void showRank();
    void showListed(bool isShown);
    void resetShown();

    struct Prepared
    {
        std::shared_ptr<const Run> run;
        std::vector<ChannelsModel::Row> rows;
        std::vector<std::int32_t> ranks;
    };

    Workspace& m_workspace;
    ViewState& m_state;
    ChannelsModel* m_model;
    QSortFilterProxyModel* m_filtered;
    QFutureWatcher<Prepared> m_watcher;
    QComboBox* m_rank;
    QLineEdit* m_filter;
    QTableView* m_table;
    QLabel* m_note;
    RanksChart* m_ranks;
    QSplitter* m_splitter;
    bool m_isLaidOut = false; ///< the list has been given the room its columns need
};

} // namespace headroom
