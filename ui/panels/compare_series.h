// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "charts/overlay_data.h"
#include "charts/peak_series.h"
#include "charts/stage_pairs.h"
#include "workspace/other_run.h"

namespace headroom {

/// What two runs can be laid over each other in.
enum class ComparedQuantity : std::uint8_t { Allocated, Reserved, Device, StepTime, TokensPerSecond, Stages };

[[nodiscard]] QString titleOf(ComparedQuantity quantity);

/// The records of both logs by step; null for an estimate.
using ComparedSeries = std::array<std::shared_ptr<const PeakSeries>, 2>;

/// Those that at least one of the runs tells about, the most telling first.
[[nodiscard]] std::vector<ComparedQuantity> quantitiesOf(const ComparedRuns& runs, const ComparedSeries& series);

/// The steps of both runs on the same axes. An estimate beside a log is a level line over the log's steps.
[[nodiscard]] OverlayData overlayOf(const ComparedRuns& runs, const ComparedSeries& series, ComparedQuantity quantity);
[[nodiscard]] StagePairs pairsOf(const ComparedRuns& runs);

/// The peaks of all runs of a history over their places, and the capacity that each of them had to keep to where it is
/// one.
[[nodiscard]] OverlayData overlayOf(const std::vector<HistoryRun>& runs, std::optional<std::size_t> reference);

/// "batch.micro 2 → 1, recompute", shortened to what a cell has room for.
[[nodiscard]] QString changesText(const std::vector<ChangedVariable>& variables);
/// "−18.5 %"; empty where there was nothing.
[[nodiscard]] QString percentText(double before, double after);
[[nodiscard]] QString titleOf(const RunFigures& figures);

} // namespace headroom
