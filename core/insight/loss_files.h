// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/loss_check.h"

#include <filesystem>
#include <vector>

namespace headroom {

/// The losses of a file of JSON lines, or of a log whose lines carry one. What was not understood in it is added to
/// `problems`. Fails when the file can't be read or has no line with both step and loss.
[[nodiscard]] Result<LossSeries> readLosses(const std::filesystem::path& path, std::vector<Problem>& problems);

} // namespace headroom
