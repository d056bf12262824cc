// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/fields.h"

#include <QAbstractItemModel>

#include <vector>

namespace headroom {

/// Every value of a plan, by group: what is set, what is in effect where that is something else, and where it comes
/// from. Editing a value emits editRequested() and changes nothing here.
class PlanModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column { Name, Value, InEffect, From, ColumnCount };
    enum Role { FieldRole = Qt::UserRole, IsStatedRole, IsAskedRole };

    explicit PlanModel(QObject* parent = nullptr);

    /// `original` is the plan before the user's own changes.
    void setPlans(const TrainingPlan& plan, const TrainingPlan& original);
    /// Values that the estimate needs or that stand in a file without being understood.
    [[nodiscard]] int askedCount() const;
    [[nodiscard]] QModelIndex firstAsked() const;
    [[nodiscard]] Origin origin(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOf(const QString& field, int column = Name) const;

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

signals:
    /// An empty value goes back to what the files say.
    void editRequested(const QString& field, const QString& value);

private:
    struct Row
    {
        QString field, name;
        QString value, inEffect, before;
        Origin origin, originBefore;
        bool isAsked = false;
    };
    struct Group
    {
        QString id;
        std::vector<Row> rows;
    };

    [[nodiscard]] const Row* rowAt(const QModelIndex& index) const;
    [[nodiscard]] QVariant text(const Row& row, int column) const;
    [[nodiscard]] QVariant look(const Row& row, int column, int role) const;

    std::vector<Group> m_groups;
};

} // namespace headroom
