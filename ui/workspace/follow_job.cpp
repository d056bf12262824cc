// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/follow_job.h"

#include "runlog/followed_log.h"
#include "runlog/read_log.h"

#include <QtConcurrentRun>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr double restPerWork = 20; // seconds left alone for each second of reading

/// What tells that a file is another, or has more in it, than before.
struct FileState
{
    std::string name;
    std::uint64_t device = 0, inode = 0;
    std::int64_t size = 0, seconds = 0, nanoseconds = 0;

    friend bool operator==(const FileState&, const FileState&) = default;
};

FileState stateOf(const std::string& name)
{
    struct stat status = {};
    if (::stat(name.c_str(), &status) != 0) {
        return {name};
    }
    return {name, status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

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

} // namespace

struct FollowJob::Followed
{
    LoadedLog log; ///< the newest
    std::vector<FileState> states;
    std::unique_ptr<FollowedLog> file; ///< of a log in one file, once it has changed
    double seconds = 0; ///< the last reading took

    [[nodiscard]] bool isOneFile() const
    {
        std::error_code error;
        return log.paths.size() == 1 && std::filesystem::is_regular_file(log.paths.front(), error);
    }
    /// Nothing: it is as it was, or can't be read at the moment.
    [[nodiscard]] std::optional<Run> read();
    [[nodiscard]] Grown poll(const Library& library);
};

std::optional<Run> FollowJob::Followed::read()
{
    if (isOneFile()) {
        if (!file) {
            file = std::make_unique<FollowedLog>(log.paths.front());
        }
        const auto change = file->poll();
        if (!change || change->isEmpty) {
            return std::nullopt;
        }
        Run run = file->run();
        conclude(run);
        return run;
    }
    auto run = readLog(log.paths);
    return run ? std::optional(std::move(*run)) : std::nullopt;
}

FollowJob::Grown FollowJob::Followed::poll(const Library& library)
{
    std::vector<FileState> now = statesOf(log);
    if (now == states) {
        return nullptr;
    }
    const auto start = std::chrono::steady_clock::now();
    states = std::move(now);
    std::optional<Run> run = read();
    if (!run || run->isEmpty()) {
        return nullptr;
    }
    log = loadedLog(log.paths, std::move(*run), library);
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
    if (m_followed->isOneFile() && m_followed->states.front().size > log.run->byteCount) {
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
