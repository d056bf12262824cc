// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/fit.h"
#include "workspace/draft.h"

#include <QFuture>
#include <QFutureWatcher>
#include <QObject>

#include <memory>
#include <optional>
#include <stop_token>

namespace headroom {

/// What has to fit where, and what may change for it.
struct FitRequest
{
    Draft draft;
    Bytes capacity; ///< of one GPU
    double margin = 0.05; ///< share of it that has to stay free
    FitConstraints constraints;
};

/// An answer to one of the inverse questions, and the edits that take the plan there (none where they cannot be made).
struct FitLimit
{
    std::int64_t value = 0;
    std::vector<PlanEdit> edits;
};

struct FitReport
{
    FitRequest request;
    Result<FitAnswer> answer;
    std::vector<std::int64_t> gpus; ///< of each proposal: singles, pairs, closest
    std::optional<FitLimit> microBatch, sequence, fewestGpus;
};

/// Asks for the smallest change that fits away from the window, one request at a time: of those that come meanwhile
/// only the newest is worked on, and only the newest request's report is ever announced. What is no longer of interest
/// is stopped; the destructor stops and waits.
class FitJob : public QObject
{
    Q_OBJECT

public:
    using Report = std::shared_ptr<const FitReport>;

    explicit FitJob(QObject* parent = nullptr);
    ~FitJob() override;

    void start(const FitRequest& request);
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_isWanted; }

signals:
    void finished(const headroom::FitJob::Report& report);

private:
    [[nodiscard]] static Report work(FitRequest request, const std::stop_token& stop);
    void begin(FitRequest request);
    void take();

    QFutureWatcher<Report> m_watcher;
    std::stop_source m_stop; ///< of what runs
    std::optional<FitRequest> m_next;
    bool m_isWanted = false; ///< what runs, or waits, is still of interest
};

} // namespace headroom
