// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"

#include <string>
#include <vector>

namespace headroom {

/// A rule adds the findings that the situation gives rise to. Each has a test where it fires and one where it must not.
using Rule = void (*)(const Situation& situation, std::vector<Finding>& findings);

// rules_phase.cpp: what the log's peaks say
void phaseVerdict(const Situation& situation, std::vector<Finding>& findings);
void statisticsNotReset(const Situation& situation, std::vector<Finding>& findings);

// rules_pool.cpp: what the allocator holds beyond its tensors
void reservedAboveAllocated(const Situation& situation, std::vector<Finding>& findings);
void inferredFromLog(const Situation& situation, std::vector<Finding>& findings);

// rules_batch.cpp: micro-batch, accumulation, global batch
void globalBatchEquation(const Situation& situation, std::vector<Finding>& findings);

// rules_pipeline.cpp: layers and micro-batches over the stages
void unevenSplit(const Situation& situation, std::vector<Finding>& findings);
void microBatchesInFlight(const Situation& situation, std::vector<Finding>& findings);

// rules_recompute.cpp: is it really on
void recomputeNotLoaded(const Situation& situation, std::vector<Finding>& findings);

// rules_config.cpp: what the files say and the framework makes something else of
void settingHasNoEffect(const Situation& situation, std::vector<Finding>& findings);
void recomputeMethodAlone(const Situation& situation, std::vector<Finding>& findings);
void coreAttentionSavesNothing(const Situation& situation, std::vector<Finding>& findings);
void expertParallelWithoutExperts(const Situation& situation, std::vector<Finding>& findings);

// rules_checkpointing.cpp: what recompute needs of the model it is used on
void reentrantWithFrozenInputs(const Situation& situation, std::vector<Finding>& findings);
void reentrantOverVision(const Situation& situation, std::vector<Finding>& findings);
void frozenTowerKeepsActivations(const Situation& situation, std::vector<Finding>& findings);

// rules_steps.cpp: how the peaks go over the steps
void growthOverSteps(const Situation& situation, std::vector<Finding>& findings);
void firstStepBelow(const Situation& situation, std::vector<Finding>& findings);
void oneStepFarAbove(const Situation& situation, std::vector<Finding>& findings);
void onlyOneRank(const Situation& situation, std::vector<Finding>& findings);

// rules_memory.cpp: messages, the device, and the arguments that took effect
void outOfMemoryExplained(const Situation& situation, std::vector<Finding>& findings);
void memoryOutsideAllocator(const Situation& situation, std::vector<Finding>& findings);
void argumentsAreShortened(const Situation& situation, std::vector<Finding>& findings);
void argumentsDiffer(const Situation& situation, std::vector<Finding>& findings);

// rules_estimate.cpp: what the estimate itself shows, and where it and the log disagree
void logitsAreThePeak(const Situation& situation, std::vector<Finding>& findings);
void endStageFuller(const Situation& situation, std::vector<Finding>& findings);
void frozenKeepsActivations(const Situation& situation, std::vector<Finding>& findings);
void estimateDisagrees(const Situation& situation, std::vector<Finding>& findings);
void reservedDisagrees(const Situation& situation, std::vector<Finding>& findings);
void notLegal(const Situation& situation, std::vector<Finding>& findings);

/// To an ExactEstimator, where the figures of all stages are worth it.
inline constexpr Interval everyPeak{Bytes{0}, Bytes{std::numeric_limits<std::int64_t>::max()}};

// mend.cpp: what a plan edit would do
/// The plan with the edits made, origin Edited; null when one of them is not a legal value.
[[nodiscard]] std::optional<TrainingPlan> edited(const TrainingPlan& plan, const std::vector<PlanEdit>& edits);
/// A mend with its predicted peak and what it costs in time; null when the edited plan cannot be estimated.
[[nodiscard]] std::optional<Mend> mendOf(const Situation& situation, Text label, std::vector<PlanEdit> edits);
/// Whether the peak is lower with it, both as the mend's reader has them.
[[nodiscard]] bool lowersPeak(const Situation& situation, const Mend& mend);
/// Halves the micro-batch and doubles the accumulation, so that the global batch stays; null at micro-batch 1 or an odd
/// one.
[[nodiscard]] std::optional<Mend> halveMicroBatch(const Situation& situation);
[[nodiscard]] std::optional<Mend> recomputeFully(const Situation& situation);
[[nodiscard]] std::optional<Mend> doubleStages(const Situation& situation);

/// Evidence for a value of the plan: its file and line, or "default" where nobody wrote it.
[[nodiscard]] Evidence evidenceOf(const TrainingPlan& plan, const std::string& field);
/// Evidence for a record: "step 121, 77.90 GiB" with its file and line.
[[nodiscard]] Evidence evidenceOf(const Run& run, std::size_t record);

} // namespace headroom
