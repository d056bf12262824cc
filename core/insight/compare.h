// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"
#include "plan/fields.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One side of a comparison in the figures that both a log and an estimate have; unknown where it does not say.
struct RunFigures
{
    std::string name; ///< of the log or config, for people
    bool isEstimate = false;
    std::optional<Bytes> allocated, reserved, device; ///< peaks: of any rank, or of the fullest stage
    std::array<std::optional<Bytes>, phaseCount> phases{}; ///< allocated
    std::optional<Phase> peakPhase;
    std::optional<double> stepSeconds, tokensPerSecond; ///< medians without the first steps, which warm up
    std::vector<std::int32_t> ranks; ///< that the log has lines of

    [[nodiscard]] static RunFigures of(const Run& run, const RunSummary& summary);
    [[nodiscard]] static RunFigures of(const Footprint& footprint, std::string name);
};

/// Values of a plan that are turned together: the pipeline size with the data-parallel size that follows it.
struct ChangedVariable
{
    std::string id; ///< "parallel.pp", "recompute"
    std::vector<FieldDifference> differences;
};

/// What two plans differ in, values that merely follow another one left out: with the same GPUs and the same global
/// batch, data-parallel size and accumulation do.
[[nodiscard]] std::vector<ChangedVariable> changedVariables(const TrainingPlan& before, const TrainingPlan& after);

struct RunComparison
{
    RunFigures before, after;
    std::vector<ChangedVariable> variables; ///< empty too when a plan is not known
    bool hasPlans = false;
    std::vector<Finding> findings; ///< the verdicts of workflow.md section 4, the most important first
};

/// Plans may be null.
[[nodiscard]] RunComparison compareRuns(RunFigures before, RunFigures after, const TrainingPlan* planBefore,
                                        const TrainingPlan* planAfter);

} // namespace headroom
