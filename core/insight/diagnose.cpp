// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/log_conclusions.h"
#include "insight/rule.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

namespace headroom {

namespace {

/// A rule with the ids of its findings.
struct KnownRule
{
    Rule find;
    std::array<std::string_view, 16> ids; ///< empty ones behind them
};

// In the order in which a user should read findings of equal severity: first where the peak is, then why.
constexpr std::array rules{
    KnownRule{outOfMemoryExplained, {"out-of-memory"}},
    KnownRule{phaseVerdict, {"peak-in-forward", "peak-in-backward", "peak-in-optimizer"}},
    KnownRule{memoryOutsideAllocator, {"memory-outside-allocator"}},
    KnownRule{argumentsDiffer, {"config-is-not-what-ran"}},
    KnownRule{argumentsAreShortened, {"arguments-shortened"}},
    KnownRule{notLegal, {"plan-not-legal"}},
    KnownRule{globalBatchEquation, {"micro-batch-is-global-batch", "global-batch-mismatch"}},
    KnownRule{recomputeNotLoaded, {"recompute-not-loaded"}},
    KnownRule{settingHasNoEffect,
              {"setting-overruled", "settings-cancel", "setting-lacks-switch", "setting-not-read", "setting-needs-code",
               "settings-refused", "setting-refused", "setting-idle", "setting-dropped", "vision-not-recomputed",
               "recompute-gathers-again", "setting-renamed", "setting-unfilled", "on-by-default"}},
    KnownRule{recomputeMethodAlone, {"recompute-method-alone"}},
    KnownRule{coreAttentionSavesNothing, {"core-attention-saves-nothing"}},
    KnownRule{expertParallelWithoutExperts, {"expert-parallel-without-experts"}},
    KnownRule{reentrantWithFrozenInputs, {"reentrant-frozen-inputs"}},
    KnownRule{reentrantOverVision, {"reentrant-vision-inputs"}},
    KnownRule{frozenTowerKeepsActivations, {"frozen-tower-keeps-activations"}},
    KnownRule{estimateDisagrees, {"another-setting-ran", "estimate-disagrees"}},
    KnownRule{reservedDisagrees, {"reserved-disagrees"}},
    KnownRule{microBatchesInFlight, {"in-flight-growth", "in-flight-does-not-fit"}},
    KnownRule{logitsAreThePeak, {"logits-are-the-peak"}},
    KnownRule{endStageFuller, {"end-stage-fuller"}},
    KnownRule{unevenSplit, {"layers-do-not-divide"}},
    KnownRule{frozenKeepsActivations, {"frozen-keeps-activations"}},
    KnownRule{statisticsNotReset, {"statistics-not-reset"}},
    KnownRule{inferredFromLog, {"inferred-from-log"}},
    KnownRule{growthOverSteps, {"growth-over-steps"}},
    KnownRule{oneStepFarAbove, {"one-step-far-above"}},
    KnownRule{firstStepBelow, {"first-step-below"}},
    KnownRule{reservedAboveAllocated, {"pool-in-pieces", "reserved-above-allocated"}},
    KnownRule{onlyOneRank, {"only-one-rank"}}};

/// Messages and arguments are there in a log without measurements too.
bool readsFacts(Rule rule)
{
    return rule == outOfMemoryExplained || rule == argumentsAreShortened || rule == argumentsDiffer;
}

void apply(const KnownRule& rule, const Situation& situation, std::vector<Finding>& findings)
{
    [[maybe_unused]] const auto before = static_cast<std::ptrdiff_t>(findings.size());
    rule.find(situation, findings);
    assert(std::all_of(findings.begin() + before, findings.end(), [&rule](const Finding& finding) {
        return std::find(rule.ids.begin(), rule.ids.end(), finding.id) != rule.ids.end();
    }));
}

} // namespace

std::vector<Finding> diagnose(const Situation& situation)
{
    Situation complete = situation;
    RunSummary summary;
    LogConclusions conclusions;
    if (complete.run != nullptr && complete.summary == nullptr) {
        summary = summarise(*complete.run);
        complete.summary = &summary;
    }
    if (complete.run != nullptr && complete.conclusions == nullptr) {
        conclusions = concludeFromLog(complete);
        complete.conclusions = &conclusions;
    }
    Situation measured = complete;
    if (measured.run != nullptr && measured.run->isEmpty()) {
        measured.run = nullptr;
    }
    std::vector<Finding> findings;
    for (const KnownRule& rule : rules) {
        apply(rule, readsFacts(rule.find) ? complete : measured, findings);
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return findings;
}

std::vector<std::string_view> findingIds()
{
    std::vector<std::string_view> ids;
    for (const KnownRule& rule : rules) {
        std::copy_if(rule.ids.begin(), rule.ids.end(), std::back_inserter(ids),
                     [](std::string_view id) { return !id.empty(); });
    }
    return ids;
}

} // namespace headroom
