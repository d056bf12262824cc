// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <filesystem>
#include <functional>
#include <span>

namespace headroom {

class AnchorSet;

struct ReadOptions
{
    /// Called from the reading threads, now and then, with the share of bytes done; false cancels.
    std::function<bool(double done)> progress;
    int threads = 2;
    const AnchorSet* formats = nullptr; ///< to look for; null: the built-in ones. Must outlive the reading
};

/// Reads logs of every known format (resources/formats/log), the base format among them: the words phase=,
/// step= and peak_alloc= in any order and after any prefix. Files are read in pieces and not kept in memory. A folder
/// stands for the regular files in it. Fails when a file cannot be opened or the reading was cancelled; lines that
/// cannot be read become problems of the Run.
[[nodiscard]] Result<Run> readLog(std::span<const std::filesystem::path> paths, const ReadOptions& options = {});
/// The same from memory; `name` stands for the file in messages.
[[nodiscard]] Run readLogText(std::string_view text, const std::string& name);
/// What only a whole log tells: units, shares of the GPU's memory, phases of trainers that name none. The functions
/// above have done it; a followed log's Run has it done to a copy.
void conclude(Run& run);

} // namespace headroom
