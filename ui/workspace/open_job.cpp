// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/open_job.h"

#include <QPromise>
#include <QtConcurrentRun>

#include <algorithm>

namespace headroom {
namespace {

constexpr int fullProgress = 1000;

} // namespace

OpenJob::OpenJob(std::shared_ptr<const Library> library, QObject* parent)
    : QObject(parent)
    , m_library(std::move(library))
{
}

OpenJob::~OpenJob()
{
    for (const auto& opening : m_openings) {
        opening->watcher.disconnect(this);
        opening->watcher.cancel();
    }
    for (const auto& opening : m_openings) {
        opening->watcher.waitForFinished();
    }
}

void OpenJob::start(const std::vector<std::filesystem::path>& paths)
{
    auto opening = std::make_unique<Opening>();
    opening->number = ++m_started;
    auto work = [library = m_library, paths, isLogUnwanted = opening->isLogUnwanted](QPromise<Opened>& promise) {
        promise.setProgressRange(0, fullProgress);
        auto progress = [&](double done, const std::string& name) {
            promise.setProgressValueAndText(static_cast<int>(done * fullProgress), QString::fromStdString(name));
            return !promise.isCanceled() && !*isLogUnwanted;
        };
        promise.addResult(std::make_shared<const OpenedFiles>(openFiles(paths, *library, progress)));
    };
    QFutureWatcher<Opened>& watcher = opening->watcher;
    connect(&watcher, &QFutureWatcherBase::progressValueChanged, this,
            [this, &watcher](int value) { emit progressed(value, watcher.progressText()); });
    connect(&watcher, &QFutureWatcherBase::finished, this, [this, which = opening.get()] { finish(which); });
    watcher.setFuture(QtConcurrent::run(std::move(work)));
    m_openings.push_back(std::move(opening));
    emit started();
}

void OpenJob::cancel()
{
    for (const auto& opening : m_openings) {
        opening->watcher.cancel();
    }
}

bool OpenJob::isRunning() const
{
    return !m_openings.empty();
}

OpenedFiles OpenJob::newestOf(const OpenedFiles& files, int number)
{
    OpenedFiles newest = files;
    const auto keep = [number](auto& file, int& newestNumber) {
        if (file && number < newestNumber) {
            file.reset();
        } else if (file) {
            newestNumber = number;
        }
    };
    keep(newest.log, m_newestLog);
    keep(newest.config, m_newestConfig);
    keep(newest.model, m_newestModel);
    return newest;
}

void OpenJob::finish(Opening* opening)
{
    const auto found = std::find_if(m_openings.begin(), m_openings.end(),
                                    [&](const std::unique_ptr<Opening>& each) { return each.get() == opening; });
    const std::shared_ptr<Opening> done = std::move(*found);
    m_openings.erase(found);
    done->watcher.disconnect(this);
    // This is its watcher's own signal: it goes when that has returned.
    QMetaObject::invokeMethod(
        this, [done] {}, Qt::QueuedConnection);
    const QFuture<Opened> future = done->watcher.future();
    const bool isStopped
        = future.isCanceled() || future.resultCount() == 0 || (future.result()->wasCancelled && !*done->isLogUnwanted);
    if (isStopped) {
        emit cancelled();
        return;
    }
    const OpenedFiles files = newestOf(*future.result(), done->number);
    if (files.log) {
        for (const auto& each : m_openings) {
            if (each->number < done->number) {
                *each->isLogUnwanted = true;
            }
        }
    }
    emit finished(files);
}

} // namespace headroom
