// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/config_format.h"
#include "insight/finding.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What a change may not touch.
struct FitConstraints
{
    bool keepGlobalBatch = true; ///< accumulation follows micro-batch and data-parallel size
    bool keepGpus = true; ///< data-parallel size follows tensor, pipeline and context parallel
    bool keepTraining = true; ///< sequence length and numbers of the optimizer stay, as what is learned depends on them
    std::vector<std::string> lacking = {}; ///< fields that the config cannot say: fieldsLacking()
};

/// One value of a knob other than the plan's own.
struct FitCandidate
{
    std::vector<PlanEdit> primary; ///< the knob itself; linkedEdits() adds what has to follow
    Text label; ///< "Pipeline stages 2 → 4"
};

/// Fields of parallelism and adapters for which none of these formats has a key: no proposal should ask for what the
/// framework does not do. None without formats.
[[nodiscard]] std::vector<std::string> fieldsLacking(std::span<const ConfigFormat* const> formats);

struct FitKnob
{
    std::string_view id; ///< "micro-batch"
    std::vector<FitCandidate> candidates; ///< nearest to the plan first
};

/// Every knob that this plan has, with every value it could be turned to, legal or not.
[[nodiscard]] std::vector<FitKnob> fitKnobs(const TrainingPlan& plan, const FitConstraints& constraints);

/// LoRA and QLoRA for a plan that trains a whole model in a framework with adapters; no candidates elsewhere.
[[nodiscard]] FitKnob adapterKinds(const TrainingPlan& plan, const FitConstraints& constraints);

/// The primary edits with those that keep the constraints: data-parallel size, accumulation, number of GPUs, as far as
/// the plan states them. Null where they cannot be kept or the resulting plan is not a legal one.
[[nodiscard]] std::optional<std::vector<PlanEdit>> linkedEdits(const TrainingPlan& plan, std::vector<PlanEdit> primary,
                                                               const FitConstraints& constraints);

} // namespace headroom
