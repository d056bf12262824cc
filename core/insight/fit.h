// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/outlook/step_time.h"
#include "insight/fit_knobs.h"

#include <stop_token>

namespace headroom {

struct FitQuestion
{
    const TrainingPlan* plan = nullptr;
    Bytes capacity; ///< of one GPU
    double margin = 0.05; ///< share of the capacity that has to stay free
    FitConstraints constraints;
    Calibration calibration;
    Estimator estimator = estimateInstantly;
    ExactEstimator exact = nullptr; ///< has the last word on what stands just below the limit; null: `estimator` has it
    std::stop_token stop = {}; ///< what a search returns that was stopped means nothing

    [[nodiscard]] Bytes limit() const;
};

/// A change of the plan with which every stage fits.
struct FitProposal
{
    std::vector<std::string_view> knobs; ///< ids, up to three
    std::vector<Text> labels; ///< one a knob
    std::vector<PlanEdit> edits;
    std::vector<Bytes> stages; ///< device bytes of each
    Bytes peak; ///< of the fullest
    std::optional<RelativeStepTime> stepTime; ///< beside the plan as it is
    /// Copies to the host and the update there come on top: nothing is known of its processor.
    bool isTimeLowerBound = false;

    /// GPU hours for the same samples, beside the plan as it is; 1 where unknown.
    [[nodiscard]] double cost() const;
};

struct FitAnswer
{
    Bytes peak; ///< device bytes of the fullest stage as the plan is
    bool fits = false; ///< already; there are no proposals then
    std::vector<FitProposal>
        singles; ///< of each knob the nearest value that fits: the cheapest first, lower bounds last
    std::vector<FitProposal> pairs; ///< of two knobs, where no single one does
    /// The knob that comes closest where nothing fits: its value with the smallest peak.
    std::optional<FitProposal> closest;
    /// Where nothing else fits: adapters in place of the weights, and over weights in 4 bits. They train less than was
    /// asked for, so they are no answer to it.
    std::vector<FitProposal> adapters;
    std::int64_t estimates = 0;
};

/// The smallest change that fits. Deterministic, within some tens of milliseconds. Fails as the estimator does for the
/// plan itself.
[[nodiscard]] Result<FitAnswer> smallestChangeThatFits(const FitQuestion& question);

/// The inverse questions; null where not even the smallest value fits. The plan's other values stay, and what follows
/// them (FitConstraints) as stated there.
[[nodiscard]] std::optional<std::int64_t> largestMicroBatch(const FitQuestion& question);
[[nodiscard]] std::optional<std::int64_t> longestSequence(const FitQuestion& question); ///< a multiple of 128
/// The fewest GPUs, over tensor, pipeline and data-parallel sizes with the same global batch: the cheapest such plan.
[[nodiscard]] std::optional<FitProposal> fewestGpus(const FitQuestion& question);

} // namespace headroom
