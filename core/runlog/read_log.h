// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <filesystem>
#include <functional>
#include <span>

namespace headroom {

struct ReadOptions
{
    /// Called from the reading threads, now and then, with the share of bytes done; false cancels.
    std::function<bool(double done)> progress;
    int threads = 2;
};

/// Reads logs in the base format (DESIGN 5.1): on each line the words phase=, step= and peak_alloc= in any order and
/// after any prefix. Files are read in pieces and not kept in memory. A folder stands for the regular files in it.
/// Fails when a file cannot be opened or the reading was cancelled; lines that cannot be read become problems of the
/// Run.
[[nodiscard]] Result<Run> readLog(std::span<const std::filesystem::path> paths, const ReadOptions& options = {});
/// The same from memory; `name` stands for the file in messages.
[[nodiscard]] Run readLogText(std::string_view text, const std::string& name);

} // namespace headroom
