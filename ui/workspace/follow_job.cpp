// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/follow_job.h"

#include "runlog/followed_logs.h"

#include <QDateTime>
#include <QtConcurrentRun>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr double restPerWork = 20; // seconds left alone for each second of reading
constexpr std::int64_t smallBytes = 64 << 20;
constexpr std::int64_t liveSeconds = 3600; // a step of a large run, its evaluation or checkpoint takes less

std::vector<FileState> statesOf(const LoadedLog& log)
{
    std::vector<FileState> states;
    for (const std::string& file : log.run->files) {
        states.push_back(stateOf(file));
    }
    for (const auto& path : log.paths) { // of a folder: files that come
        states.push_back(stateOf(path.string()));
    }
    return states;
}

/// Whether somebody seems to be writing the log.
bool isLive(const std::vector<FileState>& states)
{
    const std::int64_t now = QDateTime::currentSecsSinceEpoch();
    return std::ranges::any_of(states, [&](const FileState& state) { return now - state.seconds < liveSeconds; });
}

} // namespace

struct FollowJob::Followed
{
    LoadedLog log; ///< the newest
    std::vector<FileState> states; ///< until it has changed
    std::unique_ptr<FollowedLogs> logs; ///< once it has changed, or is likely to
    double seconds = 0; ///< the last reading took

    [[nodiscard]] Grown poll(const Library& library);
    [[nodiscard]] bool isToBeRead() const;
};

/// A log that is small or being written is read before it changes: what it held is kept even when the first change is
/// that it begins anew. A large one at rest is read a second time only when it turns out to grow; where it begins anew
/// instead, another run has taken its name.
bool FollowJob::Followed::isToBeRead() const
{
    return logs || log.run->byteCount <= smallBytes || isLive(states) || statesOf(log) != states;
}

FollowJob::Grown FollowJob::Followed::poll(const Library& library)
{
    if (!isToBeRead()) {
        return nullptr;
    }
    const auto start = std::chrono::steady_clock::now();
    const bool isFirst = !logs;
    if (isFirst) {
        logs = std::make_unique<FollowedLogs>(log.paths, &library.logFormats->anchors());
    }
    const auto hasChanged = logs->poll();
    const bool isKnown = isFirst && statesOf(log) == states;
    if (!hasChanged.value_or(false) || isKnown) {
        return nullptr;
    }
    Run run = logs->run();
    log = loadedLog(log.paths, std::move(run), library);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    log.seconds = seconds;
    return std::make_shared<const LoadedLog>(log);
}

FollowJob::FollowJob(std::shared_ptr<const Library> library, QObject* parent)
    : QObject(parent)
    , m_library(std::move(library))
{
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &FollowJob::poll);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &FollowJob::finish);
}

FollowJob::~FollowJob()
{
    m_watcher.disconnect(this);
    m_watcher.waitForFinished();
}

void FollowJob::watch(const LoadedLog& log)
{
    m_followed = std::make_shared<Followed>();
    m_followed->log = log;
    m_followed->states = statesOf(log);
    // What was added while the log was being read: the states are of later and would not tell.
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < log.run->files.size(); ++i) {
        bytes += m_followed->states[i].size;
    }
    if (bytes > log.run->byteCount) {
        m_followed->states.clear();
    }
    m_timer.start(pollMs);
}

void FollowJob::stop()
{
    m_followed.reset();
    m_timer.stop();
}

void FollowJob::poll()
{
    if (!m_followed || m_watcher.isRunning()) {
        return; // of another log: finish() starts the timer again
    }
    m_polled = m_followed;
    m_watcher.setFuture(
        QtConcurrent::run([followed = m_followed, library = m_library] { return followed->poll(*library); }));
}

void FollowJob::finish()
{
    const bool isCurrent = m_polled == m_followed && m_followed;
    m_polled.reset();
    if (!m_followed) {
        return;
    }
    if (const Grown grown = m_watcher.result(); grown && isCurrent) {
        emit grew(*grown);
    }
    if (m_followed) {
        m_timer.start(std::max(pollMs, static_cast<int>(1000 * restPerWork * m_followed->seconds)));
    }
}

} // namespace headroom
