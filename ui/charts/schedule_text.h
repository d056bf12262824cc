// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"

#include <QString>

namespace headroom {

/// "1F1B", "Interleaved 1F1B", "ZB-H1": as papers write them.
[[nodiscard]] QString scheduleTitle(Schedule schedule);

} // namespace headroom
