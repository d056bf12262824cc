// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "plan/fields.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

using Reason = SettingWithoutEffect::Reason;

struct Wording
{
    const char* id;
    const char* title;
    const char* explanation;
};

/// %1 the key, %2 its value, %3 the other key, with its value where it has one.
Wording wordingOf(const SettingWithoutEffect& setting)
{
    switch (setting.reason) {
    case Reason::Overruled:
        return {"setting-overruled", HEADROOM_TR("core", "“%1” is overruled"),
                HEADROOM_TR("core", "“%1” is %2, but beside “%3” the framework does not take it: “%3” decides.")};
    case Reason::Neither:
        return {"settings-cancel", HEADROOM_TR("core", "“%1” and “%3” cancel each other"),
                HEADROOM_TR("core", "“%1” = %2 stands beside “%3”, and with both the framework applies neither.")};
    case Reason::Lacking:
        return {"setting-lacks-switch", HEADROOM_TR("core", "“%1” has no effect without “%3”"),
                HEADROOM_TR("core", "“%1” is %2, but the framework looks at it only with “%3”.")};
    case Reason::NotRead:
        return {"setting-not-read", HEADROOM_TR("core", "“%1” is not what decides"),
                HEADROOM_TR("core", "“%1” = %2 is accepted, but the framework goes by “%3”.")};
    case Reason::ByItself:
        return {"setting-needs-code", HEADROOM_TR("core", "“%1” does nothing by itself"),
                HEADROOM_TR("core",
                            "“%1” is %2, which counts only where the model's own code calls the library's checkpoint "
                            "function. Models of Hugging Face do not: nothing is recomputed because of it.")};
    case Reason::Refused:
        return {"settings-refused", HEADROOM_TR("core", "“%1” and “%3” stop the run"),
                HEADROOM_TR("core", "“%1” = %2 beside “%3” is refused by the framework: the run would not start.")};
    case Reason::RefusedAlone:
        return {"setting-refused", HEADROOM_TR("core", "“%1” stops the run"),
                HEADROOM_TR("core", "“%1” = %2 needs “%3”; without it the run would not start.")};
    case Reason::Idle:
        return {"setting-idle", HEADROOM_TR("core", "“%1” does nothing at %3"),
                HEADROOM_TR("core", "“%1” is %2, but at %3 there is nothing for it to do.")};
    case Reason::Dropped:
        return {"setting-dropped", HEADROOM_TR("core", "“%1” is not applied"),
                HEADROOM_TR("core", "“%1” is %2, but the program takes it and nothing comes of it.")};
    case Reason::MissesVision:
        return {"vision-not-recomputed", HEADROOM_TR("core", "“%1” does not reach the vision tower"),
                setting.other.empty()
                    ? HEADROOM_TR("core",
                                  "“%1” = %2 recomputes the language model; the vision tower keeps its "
                                  "activations.")
                    : HEADROOM_TR("core",
                                  "“%1” = %2 recomputes the language model; the vision tower keeps its "
                                  "activations unless “%3” says otherwise.")};
    case Reason::ExtraGather:
        return {"recompute-gathers-again", HEADROOM_TR("core", "“%1” gathers the sharded weights once more"),
                HEADROOM_TR("core",
                            "With “%1” = %2 the repeated forward runs outside FSDP's wrapping and gathers every "
                            "layer's weights a second time; “%3” saves the same memory without it.")};
    case Reason::Renamed:
        return {"setting-renamed", HEADROOM_TR("core", "“%1” is an old name"),
                HEADROOM_TR("core",
                            "“%1” = %2 is called “%3” today: a current version stops over it, and only older "
                            "forks still go by it.")};
    case Reason::Unfilled:
        return {"setting-unfilled", HEADROOM_TR("core", "“%1” = %2 stops the run"),
                HEADROOM_TR("core",
                            "Neither Trainer nor accelerate fills in “%1”, so “%2” stays there and the run "
                            "would not start. Write a value.")};
    case Reason::ByDefault:
        break;
    }
    return {"on-by-default", HEADROOM_TR("core", "On by default: %4"),
            HEADROOM_TR("core", "“%1” is not written, and then the framework takes %4 as true.")};
}

Finding findingOf(const SettingWithoutEffect& setting)
{
    const Wording wording = wordingOf(setting);
    const bool stops = setting.reason == Reason::Refused || setting.reason == Reason::RefusedAlone
        || setting.reason == Reason::Unfilled;
    Finding finding;
    finding.id = wording.id;
    finding.severity = stops ? Severity::Error : setting.isHarmless ? Severity::Note : Severity::Warning;
    const std::vector<std::string> arguments{setting.key, setting.value, setting.other, setting.field};
    finding.title = Text{wording.title, arguments};
    finding.explanation = Text{wording.explanation, arguments};
    const bool isWritten = setting.reason != Reason::ByDefault;
    finding.evidence.push_back({isWritten ? Text{HEADROOM_TR("core", "%1 = %2"), {setting.key, setting.value}}
                                          : Text{HEADROOM_TR("core", "%1 is not written"), {setting.key}},
                                setting.file, setting.line});
    if (setting.otherLine > 0) {
        finding.evidence.push_back({Text{"%1", {setting.other}}, setting.file, setting.otherLine});
    }
    finding.evidence.push_back({Text{HEADROOM_TR("core", "read in %1"), {setting.source}}, {}, 0});
    return finding;
}

/// The setting as it concerns this plan, with the fields that make it so; nothing where it does its work.
std::optional<Finding> findingOf(SettingWithoutEffect setting, const TrainingPlan& plan)
{
    if (!holdsFor(setting, plan)) {
        return std::nullopt;
    }
    std::vector<Evidence> evidence;
    for (const ConfigFormat::Condition& condition : setting.where) {
        if (!fieldText(plan, condition.keys.front()).empty()) {
            evidence.push_back(evidenceOf(plan, condition.keys.front()));
        }
    }
    if (setting.reason == Reason::Idle) {
        const std::string& field = setting.where.front().keys.front();
        setting.other = field + " = " + fieldText(plan, field);
    }
    Finding finding = findingOf(setting);
    finding.evidence.insert(finding.evidence.end() - 1, evidence.begin(), evidence.end());
    return finding;
}

/// The plan is already what the mend makes of it.
bool isMended(const TrainingPlan& plan, const SettingWithoutEffect& setting)
{
    return !setting.mend.empty() && std::all_of(setting.mend.begin(), setting.mend.end(), [&](const auto& edit) {
        return fieldText(plan, edit.first) == edit.second;
    });
}

} // namespace

void settingHasNoEffect(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    for (const SettingWithoutEffect& setting : situation.withoutEffect) {
        auto finding = findingOf(setting, *situation.plan);
        if (!finding || isMended(*situation.plan, setting)) {
            continue;
        }
        if (!setting.mend.empty()) {
            std::vector<PlanEdit> edits;
            for (const auto& [field, value] : setting.mend) {
                edits.push_back({field, value});
            }
            const PlanEdit& first = edits.front();
            Text label{HEADROOM_TR("core", "Set %1 to %2"), {first.field, first.value}};
            finding->mend = mendOf(situation, std::move(label), std::move(edits));
        }
        findings.push_back(std::move(*finding));
    }
}

/// A method or a number of layers without a granularity recomputes nothing: Megatron-LM and NeMo 1 look at them only
/// below a granularity (NeMo pull request 5470).
void recomputeMethodAlone(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const RecomputePlan& recompute = situation.plan->recompute;
    const bool isAlone = recompute.granularity.value == Granularity::None && !recompute.enabled.value
        && (recompute.method.isStated() || recompute.numLayers.isStated());
    if (!isAlone) {
        return;
    }
    Finding finding;
    finding.id = "recompute-method-alone";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Recompute has details but no granularity")};
    finding.explanation = Text{HEADROOM_TR(
        "core", "A method or a number of layers says how to recompute; without a granularity nothing is recomputed.")};
    for (const char* field : {"recompute.method", "recompute.num_layers"}) {
        if (Evidence evidence = evidenceOf(*situation.plan, field); !evidence.file.empty()) {
            finding.evidence.push_back(std::move(evidence));
        }
    }
    finding.evidence.push_back(evidenceOf(*situation.plan, "recompute.granularity"));
    finding.mend = recomputeFully(situation);
    findings.push_back(std::move(finding));
}

/// Flash and cuDNN attention keep no b·a·s·s scores, which are what selective recompute of the core saves
/// (Megatron-LM issues 464, 1225 and 1886).
void coreAttentionSavesNothing(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const std::vector<std::string>& modules = plan.recompute.modules.value;
    const std::string& attention = plan.attention.impl.value;
    const bool isFlash = attention == "flash" || attention == "fused";
    const bool isCoreOnly = plan.recompute.modules.isKnown() && modules.size() == 1 && modules.front() == "core_attn";
    if (!plan.recompute.enabled.value || plan.recompute.granularity.value != Granularity::Selective || !isCoreOnly
        || !plan.attention.impl.isKnown() || !isFlash) {
        return;
    }
    Finding finding;
    finding.id = "core-attention-saves-nothing";
    finding.severity = Severity::Warning;
    finding.title = Text{HEADROOM_TR("core", "Recomputing core attention saves next to nothing here")};
    finding.explanation = Text{HEADROOM_TR("core",
                                           "Selective recompute of core_attn spares the scores of attention, and %1 "
                                           "attention keeps none: it costs time and frees next to nothing. Versions "
                                           "before Megatron-LM's pull request 7237 keep the core's output as well."),
                               {attention}};
    finding.evidence = {evidenceOf(plan, "recompute.granularity"), evidenceOf(plan, "recompute.modules"),
                        evidenceOf(plan, "attention.impl")};
    finding.mend = recomputeFully(situation);
    findings.push_back(std::move(finding));
}

void expertParallelWithoutExperts(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.plan == nullptr) {
        return;
    }
    const TrainingPlan& plan = *situation.plan;
    const bool isDense = plan.model.layers.isKnown() && plan.moe.experts.valueOr(0) == 0;
    if (!isDense || !plan.parallel.ep.isStated() || plan.parallel.ep.value < 2) {
        return;
    }
    Finding finding;
    finding.id = "expert-parallel-without-experts";
    finding.severity = Severity::Warning;
    finding.title
        = Text{HEADROOM_TR("core", "Expert parallelism of %1 without experts"), {formatCount(plan.parallel.ep.value)}};
    finding.explanation
        = Text{HEADROOM_TR("core", "The model is dense, so expert parallelism shards nothing and frees nothing.")};
    finding.evidence = {evidenceOf(plan, "parallel.ep")};
    finding.mend = mendOf(situation, Text{HEADROOM_TR("core", "Set expert parallelism to 1")}, {{"parallel.ep", "1"}});
    findings.push_back(std::move(finding));
}

} // namespace headroom
