// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace headroom {

struct Theme;

/// headroom.qss with the theme's colours put in for its @names. Every @name is known (a test says so).
[[nodiscard]] QString styleSheet(const Theme& theme);

} // namespace headroom
