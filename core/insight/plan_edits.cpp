// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/plan_edits.h"

#include "insight/knobs.h"
#include "plan/fields.h"

#include <algorithm>
#include <string>

namespace headroom {

namespace {

/// Takes the field from `from`, whatever it says, origin included.
void copyField(TrainingPlan& plan, const TrainingPlan& from, std::string_view key)
{
    const std::string stated = fieldText(from, key);
    if (!stated.empty() && setField(plan, key, stated, fieldOrigin(from, key))) {
        return;
    }
    forEachField(plan, [&](std::string_view name, auto& field) {
        if (name == key) {
            field = std::decay_t<decltype(field)>{};
        }
    });
}

} // namespace

Granularity effectiveGranularity(const TrainingPlan& plan)
{
    return plan.recompute.enabled.value ? plan.recompute.granularity.value : Granularity::None;
}

std::vector<PlanEdit> granularityEdits(const TrainingPlan& plan, const TrainingPlan& original, Granularity granularity)
{
    if (granularity == effectiveGranularity(original)) {
        return {{"recompute.enabled", {}}, {"recompute.granularity", {}}};
    }
    if (granularity == Granularity::None) {
        return {{"recompute.enabled", "false"}};
    }
    std::vector<PlanEdit> edits{{"recompute.enabled", "true"},
                                {"recompute.granularity", std::string(nameOf(granularity))}};
    const std::string& framework = plan.framework.value;
    const bool takesModules = framework.starts_with("megatron") || framework == "nemo1";
    if (granularity == Granularity::Selective && takesModules && plan.recompute.modules.value.empty()) {
        edits.push_back({"recompute.modules", "core_attn"}); // what these recompute unless told otherwise
        return edits;
    }
    const bool needsLayers = plan.recompute.numLayers.valueOr(0) <= 0 && plan.recompute.modules.value.empty();
    if (granularity == Granularity::Selective && needsLayers && mostLayersOfAStage(plan) > 0) {
        // Selective without layers or modules recomputes nothing; half of a stage is where people start.
        edits.push_back(
            {"recompute.num_layers", std::to_string(std::max<std::int64_t>(1, mostLayersOfAStage(plan) / 2))});
    }
    return edits;
}

Result<TrainingPlan> withEdits(TrainingPlan plan, const TrainingPlan& original, const std::vector<PlanEdit>& edits)
{
    for (const PlanEdit& edit : edits) {
        if (edit.value.empty() || edit.value == fieldText(original, edit.field)) {
            copyField(plan, original, edit.field);
            continue;
        }
        if (auto set = setField(plan, edit.field, edit.value, Origin{OriginKind::Edited, 0, nullptr}); !set) {
            return tl::unexpected(set.error());
        }
    }
    return plan;
}

} // namespace headroom
