// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/outlook/step_time.h"

#include <string>

namespace headroom::cli {

// What JSON calls by its key, in the chosen language.

[[nodiscard]] std::string phaseName(Phase phase);
[[nodiscard]] std::string componentName(Component component);
[[nodiscard]] std::string stepPartName(StepPart part);

} // namespace headroom::cli
