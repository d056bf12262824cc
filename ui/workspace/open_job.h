// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/open_files.h"

#include <QFuture>
#include <QFutureWatcher>
#include <QObject>
#include <QString>

#include <atomic>
#include <memory>
#include <vector>

namespace headroom {

/// Opens files away from the window, several openings at once: a config comes while a log is being read. Of each kind
/// of file the newest opening wins; a log makes those still being read superfluous. The destructor cancels and waits.
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

    struct Opening
    {
        int number = 0;
        QFutureWatcher<Opened> watcher;
        /// Another log has come: what else there is to open is wanted still.
        std::shared_ptr<std::atomic_bool> isLogUnwanted = std::make_shared<std::atomic_bool>(false);
    };

    void finish(Opening* opening);
    [[nodiscard]] OpenedFiles newestOf(const OpenedFiles& files, int number);

    std::shared_ptr<const Library> m_library;
    std::vector<std::unique_ptr<Opening>> m_openings; ///< running, oldest first
    int m_started = 0;
    int m_newestLog = 0, m_newestConfig = 0, m_newestModel = 0; ///< numbers of the openings they came from
};

} // namespace headroom
