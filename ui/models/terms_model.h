// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace headroom {

/// The working behind an estimate as a tree: name, formula with the user's numbers, value.
class TermsModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Name, Formula, Value, ColumnCount };

    explicit TermsModel(QObject* parent = nullptr);
    ~TermsModel() override;

    /// Keeps what is expanded while the names and the structure stay, as they do on a slider's tick.
    void setTerms(std::vector<Term> terms);

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node;

    void announceValues(const QModelIndex& parent);

    std::unique_ptr<Node> m_root;
};

} // namespace headroom
