// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

/// What a change may not touch.
struct FitConstraints
{
    bool keepGlobalBatch = true; ///< accumulation follows micro-batch and data-parallel size
    bool keepGpus = true; ///< data-parallel size follows tensor, pipeline and context parallel
    bool keepTraining = true; ///< sequence length and numbers of the optimizer stay, as what is learned depends on them
};

/// One value of a knob other than the plan's own.
struct FitCandidate
{
    std::vector<PlanEdit> primary; ///< the knob itself; linkedEdits() adds what has to follow
    Text label; ///< "Pipeline stages 2 → 4"
};

struct FitKnob
{
    std::string_view id; ///< "micro-batch"
    std::vector<FitCandidate> candidates; ///< nearest to the plan first
};

/// Numbers of pipeline stages that divide the layers; all up to the layers where the plan's own does not, since whoever
/// runs that supports uneven splits.
[[nodiscard]] std::vector<std::int64_t> stageCounts(const TrainingPlan& plan);

/// Every knob that this plan has, with every value it could be turned to, legal or not.
[[nodiscard]] std::vector<FitKnob> fitKnobs(const TrainingPlan& plan, const FitConstraints& constraints);

/// The primary edits with those that keep the constraints: data-parallel size, accumulation, number of GPUs, as far as
/// the plan states them. Null where they cannot be kept or the resulting plan is not a legal one.
[[nodiscard]] std::optional<std::vector<PlanEdit>> linkedEdits(const TrainingPlan& plan, std::vector<PlanEdit> primary,
                                                               const FitConstraints& constraints);

} // namespace headroom
