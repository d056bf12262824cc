// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/log_conclusions.h"

#include <QFutureWatcher>
#include <QObject>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headroom {

/// A log and the plan of the files beside it.
struct LoggedRun
{
    std::shared_ptr<const Run> run;
    RunSummary summary;
    std::optional<TrainingPlan> plan;
    std::vector<std::string> lacking; ///< fields that the config cannot say
};

/// Concludes from a log away from the window, one log at a time: starting again stops the one before, and only the
/// newest log's conclusions are ever announced. The destructor stops and waits.
class ConclusionsJob : public QObject
{
    Q_OBJECT

public:
    explicit ConclusionsJob(QObject* parent = nullptr);
    ~ConclusionsJob() override;

    void start(const LoggedRun& logged);
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_isWanted; }

signals:
    void finished(const headroom::LogConclusions& conclusions);

private:
    using Conclusions = std::shared_ptr<const LogConclusions>;

    void begin(const LoggedRun& logged);
    void take();

    QFutureWatcher<Conclusions> m_watcher;
    std::stop_source m_stop; ///< of what runs
    std::optional<LoggedRun> m_next;
    bool m_isWanted = false; ///< what runs, or waits, is still of interest
};

} // namespace headroom
