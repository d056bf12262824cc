// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/text_file.h"

#include <QFutureWatcher>
#include <QObject>

#include <atomic>
#include <memory>
#include <optional>

namespace headroom {

struct TextQuery
{
    QString needle;
    bool matchesCase = false; ///< else A to Z equal a to z
    friend bool operator==(const TextQuery&, const TextQuery&) = default;
};

/// The next line after `line` (before it, backwards) with the needle in its text, colour codes left out; goes round
/// the end. None when no line has it or `keepGoing` said no. `isComplete` tells whether the index still grows: then
/// the search waits for it at its end.
[[nodiscard]] std::optional<qint64> findLine(ByteSource& source, const LineIndex& index, const TextQuery& query,
                                             qint64 line, bool backwards, const std::function<bool()>& keepGoing,
                                             const std::function<bool()>& isComplete);

/// Searches on another thread; a new search replaces the one before.
class TextFinder : public QObject
{
    Q_OBJECT

public:
    explicit TextFinder(QObject* parent = nullptr);
    ~TextFinder() override;

    void find(const TextFile& file, const TextQuery& query, qint64 line, bool backwards);
    void cancel();
    [[nodiscard]] bool isRunning() const { return m_watcher.isRunning(); }

signals:
    void found(qint64 line);
    void notFound();

private:
    QFutureWatcher<std::optional<qint64>> m_watcher;
    std::shared_ptr<std::atomic_bool> m_stopped;
};

} // namespace headroom
