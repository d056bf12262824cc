// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/line_index.h"

#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include <atomic>
#include <memory>

namespace headroom {

/// A line as it is shown.
struct TextLine
{
    QString text;
    qint64 hiddenBytes = 0; ///< of a line too long to be shown whole
};

/// Text without the sequences that colour it in a terminal.
[[nodiscard]] std::string withoutControls(std::string_view bytes);
/// Bytes of a log as people can read them: UTF-8, without colour codes, carriage returns inside a line and other
/// control characters as symbols.
[[nodiscard]] QString readableText(std::string_view bytes);

/// A text file of any size by line numbers. It is indexed on another thread and never read in; lines are readable as
/// soon as the index has reached them. A compressed or UTF-16 file is unpacked first, into a file without a name.
class TextFile : public QObject
{
    Q_OBJECT

public:
    explicit TextFile(QString path, QObject* parent = nullptr);
    ~TextFile() override;

    [[nodiscard]] const QString& path() const { return m_path; }
    /// Why there is no text: a sentence; empty where there is.
    [[nodiscard]] const QString& obstacle() const { return m_obstacle; }
    [[nodiscard]] qint64 lineCount() const { return m_index->lineCount(); }
    /// Every line the file had when it was last looked at is known.
    [[nodiscard]] bool isComplete() const { return !m_watcher.isRunning(); }
    [[nodiscard]] std::vector<TextLine> lines(qint64 first, int count);
    [[nodiscard]] std::shared_ptr<const LineIndex> index() const { return m_index; }
    /// Where the text is, for FileBytes::open.
    [[nodiscard]] LogFile source() const;

    /// Looks at the file again: lines that were appended are added, a file that was replaced or cut is read anew.
    void refresh();

signals:
    void grew();
    /// Another file is in its place: line numbers mean something else now.
    void replaced();

private:
    struct Identity
    {
        quint64 device = 0, inode = 0;
        qint64 packedSize = 0; ///< of a file that has to be unpacked anew when it changes
        friend bool operator==(const Identity&, const Identity&) = default;
    };

    void open();
    void unpackText(Packing packing);
    void takeUnpacked();
    void extend();
    void stop();
    [[nodiscard]] Identity identity() const;

    QString m_path;
    QString m_obstacle;
    std::optional<Packing> m_packing;
    std::shared_ptr<const OpenFile> m_unpacked;
    std::shared_ptr<Result<Unpacked>> m_unpacking; ///< the worker's, until it is done
    FileBytes m_bytes; ///< for the lines shown; the index thread has its own
    Identity m_identity;
    std::shared_ptr<LineIndex> m_index;
    std::shared_ptr<std::atomic_bool> m_stopped;
    QFutureWatcher<void> m_watcher;
    QTimer m_growth;
};

} // namespace headroom
