// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "json.h"

#include "insight/history.h"

namespace headroom::cli {

/// Two runs: what changed, the figures side by side, what that says.
void printComparison(const RunComparison& comparison);
[[nodiscard]] Json comparisonJson(const RunComparison& comparison); ///< headroom.compare/1

/// More than two: figures of all, then each beside the one before it. `reference` counts from 0.
void printHistory(std::span<const HistoryRun> runs, std::optional<std::size_t> reference);
[[nodiscard]] Json historyJson(std::span<const HistoryRun> runs,
                               std::optional<std::size_t> reference); ///< headroom.history/1

} // namespace headroom::cli
