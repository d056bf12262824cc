// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/knobs.h"

#include <QString>

#include <string_view>
#include <vector>

namespace headroom {

[[nodiscard]] QString knobTitle(Knob knob);
/// What the number counts and what it does, for tool tips and screen readers.
[[nodiscard]] QString knobMeaning(Knob knob);
/// What has to be said first, by the knobs' titles where all the fields have one: "set Micro-batch size, …".
[[nodiscard]] QString askingText(const std::vector<std::string_view>& fields);
[[nodiscard]] QString granularityTitle(Granularity granularity);

} // namespace headroom
