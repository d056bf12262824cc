// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_files.h"
#include "runlog/log_scan.h"
#include "runlog/read_log.h"

namespace headroom {

/// readLog with other sizes, so that tests can put the borders of pieces and windows anywhere.
[[nodiscard]] Result<Run> readLogInPieces(std::span<const std::filesystem::path> paths, const ReadOptions& options,
                                          const ScanSizes& sizes);
/// readLog without what only a whole log tells: the caller concludes when it has put several together.
[[nodiscard]] Result<Run> readLogAsItIs(std::span<const std::filesystem::path> paths, const ReadOptions& options,
                                        const ScanSizes& sizes = {});
/// Whether a terminal broke the lines of the file, which are joined before they are read.
[[nodiscard]] bool hasBrokenLines(const LogFile& file, const AnchorSet& anchors);
/// readLogText with other sizes.
[[nodiscard]] Run readTextInPieces(std::string_view text, const std::string& name, const ScanSizes& sizes);

} // namespace headroom
