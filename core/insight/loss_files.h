// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/loss_check.h"
#include "runlog/run.h"

#include <filesystem>
#include <vector>

namespace headroom {

/// The losses of a file of JSON lines, or of a log whose lines carry one. What was not understood in it is added to
/// `problems`; a log is handed out in `log` too, where that is asked for, since it may list the arguments of its run.
/// Fails when the file can't be read or has no line with both step and loss.
[[nodiscard]] Result<LossSeries> readLosses(const std::filesystem::path& path, std::vector<Problem>& problems,
                                            Run* log = nullptr);

} // namespace headroom
