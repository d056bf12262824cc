// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/compare.h"

#include <span>

namespace headroom {

/// A run as a history keeps it.
struct HistoryRun
{
    RunFigures figures;
    std::optional<TrainingPlan> plan; ///< null: neither a config nor arguments in the log
};

/// What one run did against the one before it, and against the reference.
struct HistoryStep
{
    std::optional<RunComparison> change; ///< none for the first run
    std::optional<RunComparison> fromReference; ///< none without a reference and for the reference itself
    bool isToldApart = false; ///< other runs show what each of the settings does that changed at once here

    /// The most important sentence about the change: that it cannot be told apart, that it had no effect, what the peak
    /// did. Of the first run that it is the first.
    [[nodiscard]] Text verdict() const;
    [[nodiscard]] Severity severity() const;
    /// More than one setting changed, and it is known which.
    [[nodiscard]] bool isMixed() const { return change && change->variables.size() > 1; }
};

/// Runs in their order, each beside the one before it. Where several settings changed at once, another pair of runs of
/// the history that differs in one of them alone is looked up and tells that one's effect (finding
/// "told-apart-elsewhere"). `reference` counts from 0; out of range: none.
[[nodiscard]] std::vector<HistoryStep> historyOf(std::span<const HistoryRun> runs,
                                                 std::optional<std::size_t> reference = {});

} // namespace headroom
