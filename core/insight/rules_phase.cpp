// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "units/number.h"

namespace headroom {

namespace {

struct Verdict
{
    const char* id;
    const char* title;
    const char* explanation;
};

// The three verdicts of the troubleshooting order: look at the phase first, then turn the knob that acts on it.
Verdict verdictOf(Phase phase)
{
    switch (phase) {
    case Phase::Forward:
        return {"peak-in-forward", HEADROOM_TR("core", "Peak is in forward"),
                HEADROOM_TR("core",
                            "Activations or the sequence length fill the memory; a smaller micro-batch and recompute "
                            "act most directly.")};
    case Phase::Backward:
        return {"peak-in-backward", HEADROOM_TR("core", "Peak is in backward"),
                HEADROOM_TR("core", "Activations and gradients are alive together; recompute gains most here.")};
    case Phase::Optimizer:
        break;
    }
    return {"peak-in-optimizer", HEADROOM_TR("core", "Peak is in the optimizer step"),
            HEADROOM_TR("core",
                        "Static state (optimizer state, master weights) fills the memory; the micro-batch hardly "
                        "matters. Split the layers "
                        "further or lower the precision of the optimizer state.")};
}

std::optional<Mend> mendFor(Phase phase, const Situation& situation)
{
    if (situation.plan == nullptr) {
        return std::nullopt;
    }
    std::optional<Mend> first;
    switch (phase) {
    case Phase::Forward:
        first = halveMicroBatch(situation);
        return first ? first : recomputeFully(situation);
    case Phase::Backward:
        first = recomputeFully(situation);
        return first ? first : halveMicroBatch(situation);
    case Phase::Optimizer:
        break;
    }
    return doubleStages(situation);
}

bool isOutOfMemory(const Situation& situation)
{
    return situation.footprint != nullptr && situation.footprint->fits() == false;
}

} // namespace

void phaseVerdict(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr) {
        return;
    }
    const auto phase = situation.summary->peakPhase(*situation.run);
    if (!phase) {
        return;
    }
    const Verdict verdict = verdictOf(*phase);
    Finding finding;
    finding.id = verdict.id;
    finding.severity = isOutOfMemory(situation) ? Severity::Error : Severity::Note;
    finding.title = Text{verdict.title};
    finding.explanation = Text{verdict.explanation};
    finding.evidence.push_back(evidenceOf(*situation.run, *situation.summary->peak));
    finding.mend = mendFor(*phase, situation);
    findings.push_back(std::move(finding));
}

void statisticsNotReset(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || !situation.summary->neverFalls) {
        return;
    }
    Finding finding;
    finding.id = "statistics-not-reset";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "The peaks never fall: statistics were not reset")};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "Every value is at least as large as the one before it, so they are running maxima and do not tell which phase "
        "peaks. Call torch.cuda.reset_peak_memory_stats() before each phase.")};
    finding.evidence.push_back(evidenceOf(*situation.run, 0));
    finding.evidence.push_back(evidenceOf(*situation.run, situation.run->size() - 1));
    findings.push_back(std::move(finding));
}

void inferredFromLog(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr) {
        return;
    }
    for (const Text& inference : situation.run->inferences) {
        Finding finding;
        finding.id = "inferred-from-log";
        finding.severity = Severity::Note;
        finding.title = Text{HEADROOM_TR("core", "Inferred from the log, not read in it")};
        finding.explanation = inference;
        findings.push_back(std::move(finding));
    }
}

} // namespace headroom
