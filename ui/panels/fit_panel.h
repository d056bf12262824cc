// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/fit_job.h"

#include <QWidget>

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QStandardItemModel;
class QTableView;

namespace headroom {

class Workspace;

/// The smallest changes with which the plan fits the chosen GPU, cheapest first, each one undoable edit away; and how
/// far micro-batch, sequence and number of GPUs could go. Searches only while it is visible.
class FitPanel : public QWidget
{
    Q_OBJECT

public:
    enum Column { Change, Peak, Left, StepTime, Gpus, ColumnCount };

    explicit FitPanel(Workspace& workspace, QWidget* parent = nullptr);

    /// What stands there is about the plan as it is, not about one before.
    [[nodiscard]] bool isCurrent() const;
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] QTableView* view() const { return m_view; }
    void apply(int row);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void makeOptions(QHBoxLayout& layout);
    void makeTable();
    void makeLimits(QHBoxLayout& layout);
    void ask();
    void take(const FitJob::Report& report);
    void showSentence(const FitReport& report);
    void showRows(const FitReport& report);
    void showLimit(QPushButton& link, const QString& text, const std::optional<FitLimit>& limit);
    void showReady();
    void showNothing(const QString& reason);
    [[nodiscard]] std::vector<FitProposal> proposals() const;

    Workspace& m_workspace;
    FitJob m_job;
    FitJob::Report m_report; ///< null: nothing to search for
    QStandardItemModel* m_model;
    QTableView* m_view;
    QLabel* m_sentence;
    QSpinBox* m_margin;
    QCheckBox* m_keepBatch;
    QCheckBox* m_keepGpus;
    QCheckBox* m_keepTraining;
    QPushButton* m_apply;
    QPushButton* m_microBatch;
    QPushButton* m_sequence;
    QPushButton* m_fewestGpus;
    QLabel* m_empty;
    QStackedWidget* m_stack;
};

} // namespace headroom
