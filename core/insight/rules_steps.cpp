// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "plan/batch.h"
#include "units/number.h"

#include <cmath>

namespace headroom {

namespace {

constexpr std::size_t enoughSteps = 12; ///< to tell a trend from chance

double shareOf(double bytes, std::int64_t typical)
{
    return bytes / static_cast<double>(std::max<std::int64_t>(typical, 1));
}

} // namespace

void growthOverSteps(const Situation& situation, std::vector<Finding>& findings)
{
    // Running maxima can only grow.
    if (situation.run == nullptr || situation.summary->neverFalls) {
        return;
    }
    const StepPeaks& peaks = situation.summary->stepPeaks;
    const double rise
        = peaks.bytesPerStep * static_cast<double>(situation.summary->lastStep - situation.summary->firstStep);
    if (peaks.steps < enoughSteps || peaks.correlation < 0.8 || shareOf(rise, peaks.typical) < 0.03) {
        return;
    }
    Finding finding;
    finding.id = "growth-over-steps";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "The peak grows by %1 per 100 steps"),
                         {formatBytes(bytesFrom(peaks.bytesPerStep * 100), 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "A run with samples of one length peaks alike in every step. Either the samples get longer, or tensors "
        "are kept from step to step: losses or outputs collected with their graph are the usual ones (use "
        ".item() or .detach()).")};
    finding.evidence.push_back(evidenceOf(*situation.run, peaks.largest));
    findings.push_back(std::move(finding));
}

void firstStepBelow(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.summary->stepPeaks.steps < 2) {
        return;
    }
    const StepPeaks& peaks = situation.summary->stepPeaks;
    const double missing = static_cast<double>(peaks.typical - peaks.first);
    if (shareOf(missing, peaks.typical) < 0.05) {
        return;
    }
    Finding finding;
    finding.id = "first-step-below";
    finding.severity = Severity::Note;
    finding.title
        = Text{HEADROOM_TR("core", "The first step peaks %1 below the others"), {formatGib(bytesFrom(missing), 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "Adam's moments are made in the first optimizer step, so a run that survives one step can still run "
        "out of memory in the second. Judge by a later step.")};
    if (situation.footprint != nullptr) {
        const StageFootprint& stage = situation.footprint->fullest();
        finding.evidence.push_back(
            {Text{HEADROOM_TR("core", "estimated: %1 in the first step, %2 later"),
                  {formatGib(stage.firstStepPeakAllocated, 1), formatGib(stage.peakAllocated, 1)}},
             {},
             0});
    }
    finding.evidence.push_back(evidenceOf(*situation.run, peaks.largest));
    findings.push_back(std::move(finding));
}

void oneStepFarAbove(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.summary->neverFalls) {
        return;
    }
    const StepPeaks& peaks = situation.summary->stepPeaks;
    const double above = static_cast<double>(situation.run->allocatedBytes[peaks.largest] - peaks.typical);
    const bool isRare = peaks.farAbove > 0 && peaks.farAbove * 20 <= peaks.steps;
    if (peaks.steps < enoughSteps || !isRare || shareOf(above, peaks.typical) < 0.1) {
        return;
    }
    Finding finding;
    finding.id = "one-step-far-above";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Step %1 peaks %2 above the usual %3"),
                         {std::to_string(situation.run->step[peaks.largest]), formatGib(bytesFrom(above), 1),
                          formatGib(Bytes{peaks.typical}, 1)}};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "%1 of %2 steps do. One long sample, or one with many images, decides the peak: cut or bucket the "
                    "samples by length, or plan for the longest."),
        {formatCount(static_cast<std::int64_t>(peaks.farAbove)), formatCount(static_cast<std::int64_t>(peaks.steps))}};
    finding.evidence.push_back(evidenceOf(*situation.run, peaks.largest));
    findings.push_back(std::move(finding));
}

void onlyOneRank(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.plan == nullptr || !situation.summary->peak
        || situation.summary->rankCount > 1 || situation.plan->parallel.pp.value < 2) {
        return;
    }
    const std::int32_t rank = situation.run->rank[*situation.summary->peak];
    const std::int64_t stages = situation.plan->parallel.pp.value;
    Finding finding;
    finding.id = "only-one-rank";
    finding.severity = Severity::Warning;
    finding.title = rank < 0 ? Text{HEADROOM_TR("core", "The log does not say which rank it is of")}
                             : Text{HEADROOM_TR("core", "The log shows rank %1 alone"), {std::to_string(rank)}};
    finding.explanation = Text{HEADROOM_TR("core",
                                           "Each of the %1 pipeline stages has its own peak, so another rank may "
                                           "be the one that runs out of memory. Compare with that stage's "
                                           "estimate, and log the first and the last stage."),
                               {formatCount(stages)}};
    finding.evidence.push_back(evidenceOf(*situation.run, *situation.summary->peak));
    findings.push_back(std::move(finding));
}

} // namespace headroom
