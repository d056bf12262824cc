// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/conclusions_job.h"

#include "replay/replay.h"

#include <QtConcurrentRun>

#include <utility>

namespace headroom {
namespace {

LogConclusions conclude(const LoggedRun& logged, const std::stop_token& stop)
{
    Situation situation;
    situation.run = logged.run.get();
    situation.summary = &logged.summary;
    situation.original = logged.plan ? &*logged.plan : nullptr;
    situation.lacking = logged.lacking;
    situation.estimator = estimateInstantly;
    situation.exact = replayWithin;
    return concludeFromLog(situation, stop);
}

} // namespace

ConclusionsJob::ConclusionsJob(QObject* parent)
    : QObject(parent)
{
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &ConclusionsJob::take);
}

ConclusionsJob::~ConclusionsJob()
{
    m_watcher.disconnect(this);
    m_stop.request_stop();
    m_watcher.waitForFinished();
}

void ConclusionsJob::start(const LoggedRun& logged)
{
    m_isWanted = true;
    if (m_watcher.isRunning()) {
        m_next = logged;
        m_stop.request_stop();
    } else {
        begin(logged);
    }
}

void ConclusionsJob::cancel()
{
    m_next.reset();
    m_isWanted = false;
    m_stop.request_stop();
}

void ConclusionsJob::begin(const LoggedRun& logged)
{
    m_stop = {};
    m_watcher.setFuture(QtConcurrent::run([logged, stop = m_stop.get_token()] {
        return std::make_shared<const LogConclusions>(conclude(logged, stop));
    }));
}

void ConclusionsJob::take()
{
    if (m_next) {
        begin(*std::exchange(m_next, std::nullopt));
    } else if (std::exchange(m_isWanted, false)) {
        emit finished(*m_watcher.result());
    }
}

} // namespace headroom
