// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "footprint/estimate.h"
#include "plan/batch.h"
#include "plan/fields.h"
#include "plan/recomputed_share.h"
#include "plan/size_limits.h"
#include "units/number.h"

namespace headroom {

namespace {

/// Mends of a replayed plan are replayed too: a promise is kept by the reader that shows what became of it.
bool isReplayed(const Situation& situation)
{
    return situation.exact != nullptr && situation.footprint->engine == Engine::Replay;
}

} // namespace

std::string inWords(const std::vector<Text>& texts, const Wording& wording)
{
    std::string words;
    for (const Text& text : texts) {
        words += (words.empty() ? "" : "; ") + wording(text);
    }
    return words;
}

std::string Mend::words(const Wording& wording) const
{
    std::vector<Text> all{label};
    all.insert(all.end(), further.begin(), further.end());
    return inWords(all, wording);
}

std::optional<TrainingPlan> edited(const TrainingPlan& plan, const std::vector<PlanEdit>& edits)
{
    TrainingPlan result = plan;
    for (const PlanEdit& edit : edits) {
        if (!setField(result, edit.field, edit.value, {OriginKind::Edited, 0, nullptr})) {
            return std::nullopt;
        }
    }
    return result;
}

std::optional<Mend> mendOf(const Situation& situation, Text label, std::vector<PlanEdit> edits)
{
    const auto plan = edited(*situation.plan, edits);
    if (!plan) {
        return std::nullopt;
    }
    Mend mend{std::move(label), std::move(edits), std::nullopt, std::nullopt, {}};
    Footprint footprint;
    if (situation.footprint != nullptr) {
        if (!situation.estimator(*plan, situation.calibration, footprint)) {
            return std::nullopt;
        }
        if (isReplayed(situation) && !situation.exact(*plan, situation.calibration, everyPeak, footprint)) {
            return std::nullopt;
        }
        mend.predictedPeak = footprint.fullest().device;
        if (const auto ratio = relativeStepTime(*situation.plan, *plan)) {
            mend.stepTime = *ratio;
        }
    }
    return mend;
}

bool lowersPeak(const Situation& situation, const Mend& mend)
{
    if (situation.footprint == nullptr || !mend.predictedPeak) {
        return false;
    }
    if (isReplayed(situation)) {
        return *mend.predictedPeak < situation.footprint->fullest().device;
    }
    Footprint present;
    return situation.estimator(*situation.plan, situation.calibration, present)
        && *mend.predictedPeak < present.fullest().device;
}

std::optional<Mend> halveMicroBatch(const Situation& situation)
{
    const TrainingPlan& plan = *situation.plan;
    const std::int64_t micro = plan.batch.micro.valueOr(1);
    if (micro < 2 || micro % 2 != 0 || sizeObjection("batch.accum", microBatchesPerStep(plan))) {
        return std::nullopt;
    }
    const std::int64_t accumulation = microBatchesPerStep(plan) * 2;
    return mendOf(situation,
                  Text{HEADROOM_TR("core", "Micro-batch %1 → %2, accumulate %3"),
                       {formatCount(micro), formatCount(micro / 2), formatCount(accumulation)}},
                  {{"batch.micro", std::to_string(micro / 2)}, {"batch.accum", std::to_string(accumulation)}});
}

std::optional<Mend> recomputeFully(const Situation& situation)
{
    const RecomputePlan& recompute = situation.plan->recompute;
    if (recompute.enabled.value && recompute.granularity.value == Granularity::Full) {
        return recomputedShare(recompute).value_or(1) < 1
            ? mendOf(situation, Text{HEADROOM_TR("core", "Recompute every layer")}, {{"recompute.fraction", "1"}})
            : std::nullopt;
    }
    return mendOf(situation, Text{HEADROOM_TR("core", "Recompute every layer")},
                  {{"recompute.enabled", "true"}, {"recompute.granularity", "full"}});
}

std::optional<Mend> doubleStages(const Situation& situation)
{
    const TrainingPlan& plan = *situation.plan;
    if (sizeObjection("parallel.pp", plan.parallel.pp.value)
        || sizeObjection("parallel.world", plan.parallel.world.valueOr(1))) {
        return std::nullopt;
    }
    const std::int64_t stages = plan.parallel.pp.value * 2;
    if (!plan.model.layers.isKnown() || plan.model.layers.value % stages != 0) {
        return std::nullopt;
    }
    std::vector<PlanEdit> edits{{"parallel.pp", std::to_string(stages)}};
    if (plan.parallel.world.isStated()) {
        edits.push_back({"parallel.world", std::to_string(plan.parallel.world.value * 2)});
    }
    auto mend = mendOf(situation,
                       Text{HEADROOM_TR("core", "Pipeline stages %1 → %2 (twice the GPUs)"),
                            {formatCount(stages / 2), formatCount(stages)}},
                       std::move(edits));
    return mend && lowersPeak(situation, *mend) ? mend : std::nullopt;
}

Evidence evidenceOf(const TrainingPlan& plan, const std::string& field)
{
    const Origin origin = fieldOrigin(plan, field);
    const bool hasPlace = origin.source && (origin.kind == OriginKind::ConfigFile || origin.kind == OriginKind::Log);
    const std::string value = fieldText(plan, field);
    Evidence evidence{Text{HEADROOM_TR("core", "%1 = %2"), {field, value}}, {}, 0};
    if (hasPlace) {
        evidence.file = *origin.source;
        evidence.line = origin.line;
    } else {
        evidence.text = Text{HEADROOM_TR("core", "%1 = %2 (%3)"), {field, value, origin.english()}};
    }
    return evidence;
}

Evidence evidenceOf(const Run& run, std::size_t record)
{
    const Record values = run.record(record);
    const std::string size = formatGib(values.allocated);
    const std::string step = std::to_string(values.step);
    Text text = values.rank < 0
        ? Text{HEADROOM_TR("core", "step %1, %2 allocated"), {step, size}}
        : Text{HEADROOM_TR("core", "step %1, rank %3, %2 allocated"), {step, size, std::to_string(values.rank)}};
    return {std::move(text), run.files.empty() ? std::string{} : run.files[values.file], values.line};
}

} // namespace headroom
