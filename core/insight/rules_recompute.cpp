// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

namespace headroom {

void recomputeNotLoaded(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const RecomputePlan& recompute = situation.plan->recompute;
    const bool isAsked = recompute.granularity.isStated() && recompute.granularity.value != Granularity::None;
    const bool isEmpty
        = recompute.enabled.isStated() && recompute.enabled.value && recompute.granularity.value == Granularity::None;
    const bool isSwitchedOff = recompute.enabled.isStated() && !recompute.enabled.value;
    if (!(isAsked && isSwitchedOff) && !isEmpty) {
        return;
    }
    Finding finding;
    finding.id = "recompute-not-loaded";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Recompute is written but not in effect")};
    finding.explanation = isEmpty
        ? Text{HEADROOM_TR("core", "Recompute is enabled with granularity none: nothing is recomputed.")}
        : Text{HEADROOM_TR("core",
                           "Granularity is %1, but recompute is not enabled, and that wins: nothing is recomputed."),
               {std::string(nameOf(recompute.granularity.value))}};
    finding.evidence.push_back(evidenceOf(*situation.plan, "recompute.enabled"));
    finding.evidence.push_back(evidenceOf(*situation.plan, "recompute.granularity"));
    finding.mend = isEmpty
        ? recomputeFully(situation)
        : mendOf(situation,
                 Text{HEADROOM_TR("core", "Enable recompute (%1)"), {std::string(nameOf(recompute.granularity.value))}},
                 {{"recompute.enabled", "true"}});
    findings.push_back(std::move(finding));
}

} // namespace headroom
