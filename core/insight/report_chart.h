// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "insight/finding.h"
#include "runlog/run.h"
#include "units/text.h"

#include <string>

namespace headroom {

/// "optimizer state"
[[nodiscard]] Text titleOf(Component component);

/// Stages as stacked bars of their components, up to what each takes of the device, with the capacity where it is
/// known: an SVG element.
[[nodiscard]] std::string stagesSvg(const Footprint& footprint, const Wording& wording);
/// The allocated peak of each phase over the steps, the largest of all ranks: an SVG element; empty without steps.
[[nodiscard]] std::string peaksSvg(const Run& run, std::optional<Bytes> capacity, const Wording& wording);

} // namespace headroom
