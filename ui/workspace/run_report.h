// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace headroom {

class Workspace;

/// Everything that the window knows about the run as one page in its language, without a network: HTML with charts for
/// a name in .html or .htm, Markdown otherwise. The file is replaced in one step; fails with the reason.
[[nodiscard]] Result<void> saveReport(const Workspace& workspace, const std::filesystem::path& path);

/// The commands that give the same answers at the terminal: of the config with what was turned, and of the log.
[[nodiscard]] std::vector<std::string> commandsOf(const Workspace& workspace);

} // namespace headroom
