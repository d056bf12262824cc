// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "insight/finding.h"

#include <string>
#include <vector>

namespace headroom::cli {

// Text for people, shared by the commands.

/// "✗ title" with explanation, places and mend, a blank line between findings.
[[nodiscard]] std::string findingsText(const std::vector<Finding>& findings);
/// The per-stage table in GiB.
[[nodiscard]] std::string stagesText(const Footprint& footprint);
/// The working, indented by depth.
[[nodiscard]] std::string workingText(const std::vector<Term>& terms);
/// "Fits: …", "Does not fit: …" or, without a capacity, where the peak is.
[[nodiscard]] std::string verdictText(const Footprint& footprint);

} // namespace headroom::cli
