// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/settings.h"

#include <QDir>
#include <QSettings>

#include <array>

namespace headroom {
namespace {

constexpr int settingsVersion = 1;

struct Entry
{
    const char* key;
    QVariant (*defaultValue)();
};

/// In the order of Preference.
constexpr std::array<Entry, 5> entries{{
    {"view/theme", [] { return QVariant(QStringLiteral("system")); }},
    {"view/language", [] { return QVariant(QString()); }},
    {"window/geometry", [] { return QVariant(); }},
    {"window/panels", [] { return QVariant(); }},
    {"files/lastFolder", [] { return QVariant(QDir::homePath()); }},
}};

const Entry& entryOf(Preference preference)
{
    return entries[static_cast<std::size_t>(preference)];
}

} // namespace

QVariant Settings::value(Preference preference)
{
    const Entry& entry = entryOf(preference);
    return QSettings().value(QLatin1String(entry.key), entry.defaultValue());
}

void Settings::setValue(Preference preference, const QVariant& value)
{
    QSettings settings;
    settings.setValue(QStringLiteral("version"), settingsVersion);
    settings.setValue(QLatin1String(entryOf(preference).key), value);
}

void Settings::remove(Preference preference)
{
    QSettings().remove(QLatin1String(entryOf(preference).key));
}

} // namespace headroom
