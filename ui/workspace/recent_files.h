// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

namespace headroom {

/// Sets of files that were opened together, newest first, kept in the settings.
class RecentFiles : public QObject
{
    Q_OBJECT

public:
    explicit RecentFiles(QObject* parent = nullptr);

    /// Each entry is what was opened at once: a log and its config belong together.
    [[nodiscard]] const QList<QStringList>& entries() const { return m_entries; }
    void add(const QStringList& paths);
    void clear();

    /// False when one of the files is gone; such entries stay in the list, greyed.
    [[nodiscard]] static bool exists(const QStringList& entry);
    /// "train.log, config.yaml"
    [[nodiscard]] static QString label(const QStringList& entry);

    static constexpr int limit = 10;

signals:
    void changed();

private:
    void save() const;

    QList<QStringList> m_entries;
};

} // namespace headroom
