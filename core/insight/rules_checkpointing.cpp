// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

namespace headroom {

namespace {

bool isReentrant(const RecomputePlan& recompute)
{
    return recompute.enabled.value && recompute.reentrant.isStated() && recompute.reentrant.value;
}

std::optional<Mend> withoutReentry(const Situation& situation)
{
    return mendOf(situation, Text{HEADROOM_TR("core", "Recompute without reentry")},
                  {{"recompute.reentrant", "false"}});
}

} // namespace

/// A reentrant segment passes gradients only where one of its inputs needs them, which the output of a frozen embedding
/// does not (https://github.com/huggingface/transformers/issues/21381).
void reentrantWithFrozenInputs(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const bool isFrozen = plan.frozen.llm.value || plan.frozen.all.value || plan.lora.rank.valueOr(0) > 0;
    if (!isReentrant(plan.recompute) || !isFrozen) {
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
    finding.mend = withoutReentry(situation);
    findings.push_back(std::move(finding));
}

/// Hooks that make inputs need gradients sit on the text embedding; pixels have none, so a reentrant segment over
/// frozen layers of the tower passes nothing back (https://github.com/huggingface/transformers/pull/41993).
void reentrantOverVision(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const bool isTowerAdapted = plan.vision.layers.valueOr(0) > 0 && plan.lora.rank.valueOr(0) > 0
        && !plan.frozen.vision.value && !plan.frozen.all.value;
    if (!isReentrant(plan.recompute) || !isTowerAdapted) {
        return;
    }
    Finding finding;
    finding.id = "reentrant-vision-inputs";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Reentrant recompute may leave the vision tower without gradients")};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "The hook that makes inputs need gradients sits on the text embedding. Pixels need none and the "
                    "tower's own layers are frozen below LoRA, so its reentrant segments may pass no gradients; "
                    "use_reentrant: false does.")};
    finding.evidence = {evidenceOf(plan, "recompute.reentrant"), evidenceOf(plan, "lora.rank")};
    finding.mend = withoutReentry(situation);
    findings.push_back(std::move(finding));
}

/// enable_input_require_grads, which recompute over frozen layers needs, makes what enters a frozen tower
/// differentiable, and then the tower keeps everything for a backward that no weight of it wants
/// (https://github.com/modelscope/ms-swift/pull/10214).
void frozenTowerKeepsActivations(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const RecomputePlan& recompute = plan.recompute;
    const bool isSafe = recompute.reentrant.isStated() && !recompute.reentrant.value;
    const bool isHooked
        = plan.lora.rank.valueOr(0) > 0 || (recompute.reentrant.isStated() && recompute.reentrant.value);
    const bool isFrozenTower = plan.vision.layers.valueOr(0) > 0 && plan.frozen.vision.value;
    if (!recompute.enabled.value || isSafe || !isHooked || !isFrozenTower) {
        return;
    }
    Finding finding;
    finding.id = "frozen-tower-keeps-activations";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "The frozen vision tower may keep its activations all the same")};
    finding.explanation = Text{
        HEADROOM_TR("core",
                    "Recompute over frozen layers is given inputs that need gradients. Where that hook reaches the "
                    "tower's embedding, the tower keeps activations as if it were trained, and freezing it frees only "
                    "gradients and optimizer state. use_reentrant: false needs no hook.")};
    finding.evidence = {evidenceOf(plan, "frozen.vision"), evidenceOf(plan, "recompute.enabled")};
    finding.mend = withoutReentry(situation);
    findings.push_back(std::move(finding));
}

} // namespace headroom
