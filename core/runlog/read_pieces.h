// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_scan.h"
#include "runlog/read_log.h"

namespace headroom {

/// readLog and readLogText with other sizes, so that tests can put the borders of pieces and windows anywhere.
[[nodiscard]] Result<Run> readLogInPieces(std::span<const std::filesystem::path> paths, const ReadOptions& options,
                                          const ScanSizes& sizes);
[[nodiscard]] Run readTextInPieces(std::string_view text, const std::string& name, const ScanSizes& sizes);

} // namespace headroom
