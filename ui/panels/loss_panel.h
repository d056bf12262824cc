// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/loss_answer.h"

#include <QFutureWatcher>
#include <QStringList>
#include <QWidget>

class QLabel;
class QStackedWidget;

namespace headroom {

class FindingList;
class LossChart;
class Workspace;

/// Whether the losses of two runs agree: the verdict, both losses with their difference, and what to look at.
class LossPanel : public QWidget
{
    Q_OBJECT

public:
    explicit LossPanel(const Workspace& workspace, QWidget* parent = nullptr);

    /// Starts again where it is comparing others; the newest files win.
    void compare(const QString& first, const QString& second);
    /// Those of the runs, to look the causes up in; what is shown follows.
    void setPlans(LossPlans plans);
    void clear();
    /// Something stands there, or will.
    [[nodiscard]] bool isInUse() const { return m_isInUse; }
    [[nodiscard]] bool isBusy() const { return m_watcher.isRunning(); }
    /// The verdict, or why there is none.
    [[nodiscard]] QString sentence() const;
    [[nodiscard]] LossChart* chart() const { return m_chart; }
    [[nodiscard]] FindingList* findings() const { return m_findings; }

signals:
    void filesRequested();
    void useChanged();
    void evidenceActivated(const QString& file, qint64 line);

private:
    [[nodiscard]] QWidget* makePage();
    void take();
    void showReport(const LossReport& report);
    void showFindings(const LossReport& report);
    void showNothing(const QString& reason);
    void setInUse(bool inUse);

    const Workspace& m_workspace;
    QFutureWatcher<LossAnswer> m_watcher;
    LossAnswer m_answer; ///< what is shown
    LossPlans m_plans;
    QStringList m_paths;
    QLabel* m_sentence;
    QLabel* m_figures;
    LossChart* m_chart;
    FindingList* m_findings;
    QLabel* m_empty;
    QStackedWidget* m_stack;
    bool m_isInUse = false;
};

} // namespace headroom
