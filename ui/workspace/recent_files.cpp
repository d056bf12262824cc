// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/recent_files.h"

#include "workspace/wording.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace headroom {
namespace {

QString key()
{
    return QStringLiteral("recentFiles");
}

} // namespace

RecentFiles::RecentFiles(QObject* parent)
    : QObject(parent)
{
    QSettings store;
    const int count = store.beginReadArray(key());
    for (int i = 0; i < std::min(count, limit); ++i) {
        store.setArrayIndex(i);
        if (const QStringList entry = store.value(QStringLiteral("paths")).toStringList(); !entry.isEmpty()) {
            m_entries.append(entry);
        }
    }
}

void RecentFiles::add(const QStringList& paths)
{
    if (paths.isEmpty()) {
        return;
    }
    QStringList entry;
    for (const QString& path : paths) {
        const QFileInfo info(path);
        entry.append(info.exists() ? info.canonicalFilePath() : info.absoluteFilePath());
    }
    m_entries.removeAll(entry);
    m_entries.prepend(entry);
    while (m_entries.size() > limit) {
        m_entries.removeLast();
    }
    save();
    emit changed();
}

void RecentFiles::clear()
{
    m_entries.clear();
    save();
    emit changed();
}

bool RecentFiles::exists(const QStringList& entry)
{
    return std::all_of(entry.begin(), entry.end(), [](const QString& path) { return QFileInfo::exists(path); });
}

QString RecentFiles::label(const QStringList& entry)
{
    QStringList names;
    for (const QString& path : entry) {
        names.append(fileName(toPath(path)));
    }
    return names.join(QStringLiteral(", "));
}

void RecentFiles::save() const
{
    QSettings store;
    store.remove(key());
    store.beginWriteArray(key(), static_cast<int>(m_entries.size()));
    for (int i = 0; i < m_entries.size(); ++i) {
        store.setArrayIndex(i);
        store.setValue(QStringLiteral("paths"), m_entries[i]);
    }
    store.endArray();
}

} // namespace headroom
