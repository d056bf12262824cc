// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

// In the order in which a user should read findings of equal severity: first where the peak is, then why.
constexpr std::array rules{phaseVerdict,
                           memoryOutsideAllocator,
                           argumentsDiffer,
                           notLegal,
                           globalBatchEquation,
                           recomputeNotLoaded,
                           settingHasNoEffect,
                           recomputeMethodAlone,
                           coreAttentionSavesNothing,
                           expertParallelWithoutExperts,
                           reentrantWithFrozenInputs,
                           reentrantOverVision,
                           frozenTowerKeepsActivations,
                           estimateDisagrees,
                           inFlightGrowth,
                           logitsAreThePeak,
                           endStageFuller,
                           unevenSplit,
                           frozenKeepsActivations,
                           statisticsNotReset,
                           growthOverSteps,
                           oneStepFarAbove,
                           firstStepBelow,
                           reservedAboveAllocated,
                           onlyOneRank};

} // namespace

std::vector<Finding> diagnose(const Situation& situation)
{
    Situation complete = situation;
    RunSummary summary;
    if (complete.run != nullptr && complete.summary == nullptr) {
        summary = summarise(*complete.run);
        complete.summary = &summary;
    }
    std::vector<Finding> findings;
    outOfMemoryExplained(complete, findings); // the one rule that a log without measurements can feed
    if (complete.run != nullptr && complete.run->isEmpty()) {
        complete.run = nullptr;
    }
    for (const Rule rule : rules) {
        rule(complete, findings);
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return findings;
}

} // namespace headroom
