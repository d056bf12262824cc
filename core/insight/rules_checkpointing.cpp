// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

namespace headroom {

/// A reentrant segment passes gradients only where one of its inputs needs them, which the output of a frozen embedding
/// does not (https://github.com/huggingface/transformers/issues/21381).
void reentrantWithFrozenInputs(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const bool isReentrant
        = plan.recompute.enabled.value && plan.recompute.reentrant.isStated() && plan.recompute.reentrant.value;
    const bool isFrozen = plan.frozen.llm.value || plan.frozen.all.value || plan.lora.rank.valueOr(0) > 0;
    if (!isReentrant || !isFrozen) {
        return;
    }
    Finding finding;
    finding.id = "reentrant-frozen-inputs";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "Reentrant recompute over frozen layers")};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "A reentrant segment passes gradients only where one of its inputs needs them, which the output of "
                    "a frozen embedding does not. With a hook that makes it need them, all frozen layers keep their "
                    "segments' inputs; use_reentrant: false needs neither.")};
    finding.evidence = {evidenceOf(plan, "recompute.reentrant")};
    finding.mend
        = mendOf(situation, Text{HEADROOM_TR("core", "Recompute without reentry")}, {{"recompute.reentrant", "false"}});
    findings.push_back(std::move(finding));
}

} // namespace headroom
