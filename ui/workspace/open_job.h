// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/open_files.h"

#include <QFuture>
#include <QFutureSynchronizer>
#include <QFutureWatcher>
#include <QObject>
#include <QString>

#include <memory>

namespace headroom {

/// Opens files away from the window. Starting again cancels the one before: the newest wins. The destructor cancels and
/// waits.
class OpenJob : public QObject
{
    Q_OBJECT

public:
    explicit OpenJob(std::shared_ptr<const Library> library, QObject* parent = nullptr);
    ~OpenJob() override;

    void start(const std::vector<std::filesystem::path>& paths);
    void cancel();
    [[nodiscard]] bool isRunning() const;

signals:
    void started();
    void progressed(int permille, const QString& name);
    void finished(const headroom::OpenedFiles& files);
    void cancelled();

private:
    using Opened = std::shared_ptr<const OpenedFiles>;

    void report();

    std::shared_ptr<const Library> m_library;
    QFutureWatcher<Opened> m_watcher;
    QFutureSynchronizer<Opened> m_futures;
};

} // namespace headroom
