// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/open_job.h"

#include <QPromise>
#include <QtConcurrentRun>

namespace headroom {
namespace {

constexpr int fullProgress = 1000;

} // namespace

OpenJob::OpenJob(std::shared_ptr<const Library> library, QObject* parent)
    : QObject(parent)
    , m_library(std::move(library))
{
    m_futures.setCancelOnWait(true);
    connect(&m_watcher, &QFutureWatcher<Opened>::progressValueChanged, this,
            [this](int value) { emit progressed(value, m_watcher.progressText()); });
    connect(&m_watcher, &QFutureWatcher<Opened>::finished, this, &OpenJob::report);
}

OpenJob::~OpenJob()
{
    m_watcher.disconnect(this);
    m_watcher.cancel();
    m_futures.waitForFinished();
}

void OpenJob::start(const std::vector<std::filesystem::path>& paths)
{
    m_watcher.cancel();
    auto work = [library = m_library, paths](QPromise<Opened>& promise) {
        promise.setProgressRange(0, fullProgress);
        auto progress = [&promise](double done, const std::string& name) {
            promise.setProgressValueAndText(static_cast<int>(done * fullProgress), QString::fromStdString(name));
            return !promise.isCanceled();
        };
        promise.addResult(std::make_shared<const OpenedFiles>(openFiles(paths, *library, progress)));
    };
    QFuture<Opened> future = QtConcurrent::run(std::move(work));
    if (!isRunning()) {
        m_futures.clearFutures();
    }
    m_futures.addFuture(future);
    m_watcher.setFuture(future);
    emit started();
}

void OpenJob::cancel()
{
    m_watcher.cancel();
}

bool OpenJob::isRunning() const
{
    return m_watcher.isRunning();
}

void OpenJob::report()
{
    const QFuture<Opened> future = m_watcher.future();
    if (future.isCanceled() || future.resultCount() == 0 || future.result()->wasCancelled) {
        emit cancelled();
        return;
    }
    emit finished(*future.result());
}

} // namespace headroom
