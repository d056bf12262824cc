// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <QAbstractTableModel>

#include <vector>

namespace headroom {

/// What was not understood, with its place.
class ProblemsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Level, Place, Sentence, ColumnCount };
    enum Role { SortRole = Qt::UserRole };

    explicit ProblemsModel(QObject* parent = nullptr);

    void setProblems(std::vector<Problem> problems);
    [[nodiscard]] const Problem& problem(int row) const { return m_problems[static_cast<std::size_t>(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<Problem> m_problems;
};

} // namespace headroom
