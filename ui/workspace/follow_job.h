// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/open_files.h"

#include <QFutureWatcher>
#include <QObject>
#include <QTimer>

#include <memory>

namespace headroom {

/// Keeps the open log as new as its files. They are looked at every second, on another thread and by their size: that
/// works on network file systems too, which tell nobody of a change. Only what was added is read, see FollowedLogs. A
/// large log is looked at less often, so that following it never costs more than a small share of a core.
class FollowJob : public QObject
{
    Q_OBJECT

public:
    explicit FollowJob(std::shared_ptr<const Library> library, QObject* parent = nullptr);
    ~FollowJob() override;

    /// From now on this log, as it was read.
    void watch(const LoadedLog& log);
    void stop();

    static constexpr int pollMs = 1000;

signals:
    void grew(const headroom::LoadedLog& log);

private:
    struct Followed;
    using Grown = std::shared_ptr<const LoadedLog>;

    void poll();
    void finish();

    std::shared_ptr<const Library> m_library;
    std::shared_ptr<Followed> m_followed; ///< used by one poll at a time
    std::shared_ptr<Followed> m_polled; ///< the one the poll now running is for
    QFutureWatcher<Grown> m_watcher;
    QTimer m_timer;
};

} // namespace headroom
