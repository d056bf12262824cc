// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCheckBox;
class QLineEdit;
class QTreeView;

namespace headroom {

class PlanFilter;
class PlanModel;
class Workspace;

/// Every value of the plan with its origin, to be searched and edited. Values that are asked for stand out. Double
/// clicks on a value edit it, on its origin show the line.
class PlanPanel : public QWidget
{
    Q_OBJECT

public:
    explicit PlanPanel(Workspace& workspace, QWidget* parent = nullptr);

    [[nodiscard]] QTreeView* view() const { return m_view; }
    [[nodiscard]] QLineEdit* search() const { return m_search; }
    [[nodiscard]] QCheckBox* all() const { return m_all; }
    [[nodiscard]] PlanModel* model() const { return m_model; }
    /// Of the plan as it stands, also while the panel is hidden.
    [[nodiscard]] int askedCount() const;

signals:
    void placeActivated(const QString& file, qint64 line);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void refresh();
    void edit(const QString& field, const QString& value);
    void showPlace(const QModelIndex& shown);
    void filter();

    Workspace& m_workspace;
    PlanModel* m_model;
    PlanFilter* m_filter;
    QTreeView* m_view;
    QLineEdit* m_search;
    QCheckBox* m_all;
};

} // namespace headroom
