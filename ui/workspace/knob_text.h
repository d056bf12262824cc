// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "workspace/knobs.h"

#include <QString>

namespace headroom {

[[nodiscard]] QString knobTitle(Knob knob);
/// What the number counts and what it does, for tool tips and screen readers.
[[nodiscard]] QString knobMeaning(Knob knob);
[[nodiscard]] QString granularityTitle(Granularity granularity);

} // namespace headroom
