// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QVariant>

namespace headroom {

/// What the window remembers from one start to the next. What is open is no setting.
enum class Preference { Theme, Language, WindowGeometry, PanelLayout, LastFolder };

/// Kept as an INI file in the user's configuration folder; organisation and application name are the application's.
class Settings
{
public:
    [[nodiscard]] static QVariant value(Preference preference);
    static void setValue(Preference preference, const QVariant& value);
    static void remove(Preference preference);

    /// Of the layout that Workbench::saveState writes; another version's is ignored.
    static constexpr int layoutVersion = 1;
};

} // namespace headroom
