// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/settings_without_effect.h"
#include "footprint/estimate.h"
#include "footprint/footprint.h"
#include "footprint/outlook/step_time.h"
#include "insight/run_summary.h"
#include "plan/training_plan.h"
#include "runlog/run.h"
#include "units/problem.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct Evidence
{
    Text text;
    std::string file; ///< empty: no place
    std::int64_t line = 0;
};

/// Looks a sentence up in the reader's language.
using Wording = std::function<std::string(const Text&)>;

/// The texts one after the other: "Micro-batch 4 → 2; Recompute every layer".
[[nodiscard]] std::string inWords(const std::vector<Text>& texts, const Wording& wording);

struct PlanEdit
{
    std::string field; ///< canonical key
    std::string value;
};

/// A plan edit that would mend what a finding says, and what the estimate becomes with it.
struct Mend
{
    Text label; ///< "Micro-batch 2 → 1, accumulate 16"
    std::vector<PlanEdit> edits;
    std::optional<Bytes> predictedPeak; ///< device bytes of the fullest stage
    std::optional<RelativeStepTime> stepTime; ///< against the plan as it stands
    std::vector<Text> further = {}; ///< labels of what it changes besides

    /// All labels.
    [[nodiscard]] std::string words(const Wording& wording) const;
};

/// A sentence about the run with what proves it.
struct Finding
{
    std::string id; ///< stable, "peak-in-backward"
    Severity severity = Severity::Note;
    Text title;
    Text explanation;
    std::vector<Evidence> evidence;
    std::optional<Mend> mend;
    std::vector<Mend> alternatives; ///< to the mend, the cheaper first
};

/// estimate() or one of its exact kin.
using Estimator = Result<void> (*)(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint);

/// Puts exact figures in place of an estimate's, for the stages whose device bytes are at least `worth.low`, the
/// fullest first and until one is above `worth.high`: replayWithin().
using ExactEstimator
    = Result<void> (*)(const TrainingPlan& plan, const Calibration& calibration, Interval worth, Footprint& footprint);

struct LogConclusions;

/// What the rules look at; null members are not open.
struct Situation
{
    const TrainingPlan* plan = nullptr; ///< with the knobs as they stand
    const TrainingPlan* original = nullptr; ///< as the files have it
    const Footprint* footprint = nullptr;
    const Footprint* originalFootprint = nullptr;
    std::span<const SettingWithoutEffect> withoutEffect; ///< of the config files
    const TrainingPlan* logPlan = nullptr; ///< what the log's list of arguments says, see planOfArguments()
    const Run* run = nullptr;
    const RunSummary* summary = nullptr; ///< of `run`; both or neither
    const LogConclusions* conclusions = nullptr; ///< of `run` and the files' plan; null: drawn anew
    std::vector<std::string> lacking; ///< fields that the config cannot say: fieldsLacking()
    Calibration calibration;
    Estimator estimator = estimate; ///< predicts what a mend would do; the one `footprint` comes from, or a faster kin
    ExactEstimator exact = nullptr; ///< has the last word on what would have fitted, and on mends of a replayed plan;
                                    ///< null: `estimator` has it
};

/// Every finding the situation gives rise to, the most important first.
[[nodiscard]] std::vector<Finding> diagnose(const Situation& situation);

/// The ids of all findings that diagnose() can make.
[[nodiscard]] std::vector<std::string_view> findingIds();

} // namespace headroom
