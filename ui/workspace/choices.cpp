// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/choices.h"

#include "footprint/estimate.h"
#include "footprint/tape/shape.h"
#include "insight/knobs.h"
#include "insight/plan_edits.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"
#include "plan/pipeline_split.h"
#include "plan/precision.h"
#include "plan/validity.h"

#include <algorithm>
#include <string_view>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 6> shardings{"none", "zero1", "zero2", "zero3", "fsdp", "dist_opt"};
constexpr std::string_view customPrecision = "custom";

/// 1F1B of several chunks is interleaved, whatever the field says.
Schedule effectiveSchedule(const TrainingPlan& plan)
{
    const bool hasStages = plan.parallel.pp.valueOr(1) > 1;
    return hasStages && chunksPerStage(plan) > 1 ? Schedule::Interleaved : plan.parallel.schedule.value;
}

std::string shardingOf(const ShardPlan& shard)
{
    if (shard.fsdp.value) {
        return "fsdp";
    }
    if (shard.zeroStage.value >= 1 && shard.zeroStage.value <= 3) {
        return "zero" + std::to_string(shard.zeroStage.value);
    }
    return shard.distOpt.value ? "dist_opt" : "none";
}

std::string precisionOf(const TrainingPlan& plan)
{
    const PrecisionRecipe now = effectivePrecision(plan);
    for (const PrecisionRecipe& recipe : precisionRecipes()) {
        if (recipe.id == now.id && recipe.params == now.params && recipe.grads == now.grads
            && recipe.master == now.master && recipe.optM == now.optM && recipe.optV == now.optV) {
            return std::string(recipe.id);
        }
    }
    return std::string(customPrecision);
}

std::vector<std::string> idsOf(Choice choice)
{
    const auto copy = [](const auto& list) { return std::vector<std::string>(list.begin(), list.end()); };
    switch (choice) {
    case Choice::Schedule:
        return fieldWords("parallel.schedule");
    case Choice::Precision: {
        std::vector<std::string> ids;
        for (const PrecisionRecipe& recipe : precisionRecipes()) {
            ids.emplace_back(recipe.id);
        }
        return ids;
    }
    case Choice::Optimizer:
        return fieldWords("optimizer.name");
    case Choice::Sharding:
        return copy(shardings);
    case Choice::Profile:
        return fieldWords("implementation.profile");
    }
    return {};
}

std::vector<PlanEdit> scheduleEdits(const TrainingPlan& plan, const std::string& id)
{
    std::vector<PlanEdit> edits{{"parallel.schedule", id}};
    const bool interleaves = id == nameOf(Schedule::Interleaved);
    if (interleaves && chunksPerStage(plan) < 2) {
        edits.push_back({"parallel.vpp", "2"}); // interleaving one chunk is no interleaving
    } else if (!interleaves && plan.parallel.vpp.valueOr(1) > 1) {
        edits.push_back({"parallel.vpp", "1"});
    }
    return edits;
}

std::vector<PlanEdit> precisionEdits(const TrainingPlan& plan, const std::string& id)
{
    const PrecisionRecipe* recipe = precisionRecipe(id);
    if (recipe == nullptr) {
        return {};
    }
    std::vector<PlanEdit> edits{{"precision.recipe", id}};
    // Types the file states one by one would win over the recipe.
    const PrecisionPlan& stated = plan.precision;
    for (const auto& [field, key, type] : {std::tuple{&stated.params, "precision.params", recipe->params},
                                           std::tuple{&stated.grads, "precision.grads", recipe->grads},
                                           std::tuple{&stated.master, "precision.master", recipe->master},
                                           std::tuple{&stated.optM, "precision.opt_m", recipe->optM},
                                           std::tuple{&stated.optV, "precision.opt_v", recipe->optV}}) {
        if (field->isKnown() && field->value != type) {
            edits.push_back({key, std::string(nameOf(type))});
        }
    }
    return edits;
}

std::vector<PlanEdit> shardingEdits(const TrainingPlan& plan, const std::string& id)
{
    std::vector<PlanEdit> edits;
    const auto set = [&](std::string_view key, const std::string& value) {
        if (fieldText(plan, key) != value) {
            edits.push_back({std::string(key), value});
        }
    };
    set("shard.zero_stage", id.starts_with("zero") ? id.substr(4) : "0");
    set("shard.fsdp", id == "fsdp" ? "true" : "false");
    set("shard.dist_opt", id == "dist_opt" ? "true" : "false");
    return edits;
}

/// What choosing it would come to.
void assess(ChoiceOption& option, Choice choice, const TrainingPlan& plan, const TrainingPlan& original, bool isExact)
{
    const auto changed = withEdits(plan, original, choiceEdits(choice, plan, original, option.id));
    if (!changed) {
        option.objection = changed.error().text;
        return;
    }
    const auto before = validate(plan);
    for (const Problem& problem : validate(*changed)) {
        const bool isNew
            = std::none_of(before.begin(), before.end(), [&](const Problem& old) { return old.text == problem.text; });
        if (problem.severity == Severity::Error && isNew) {
            option.objection = problem.text;
            return;
        }
    }
    Footprint footprint;
    if (isExact && estimateInstantly(*changed, {}, footprint) && footprint.engine == Engine::Textbook) {
        option.caution = footprint.notExact;
    }
}

} // namespace

std::string chosenOption(Choice choice, const TrainingPlan& plan)
{
    switch (choice) {
    case Choice::Schedule:
        return std::string(nameOf(effectiveSchedule(plan)));
    case Choice::Precision:
        return precisionOf(plan);
    case Choice::Optimizer:
        return plan.optimizer.name.valueOr("adamw");
    case Choice::Sharding:
        return shardingOf(plan.shard);
    case Choice::Profile:
        return plan.implementation.profile.valueOr(std::string(profileOf(plan)));
    }
    return {};
}

std::vector<ChoiceOption> choiceOptions(Choice choice, const TrainingPlan& plan, const TrainingPlan& original)
{
    std::vector<std::string> ids = idsOf(choice);
    for (const TrainingPlan* present : {&original, &plan}) {
        const std::string id = chosenOption(choice, *present);
        if (!id.empty() && std::find(ids.begin(), ids.end(), id) == ids.end()) {
            ids.push_back(id);
        }
    }
    Footprint now;
    const bool isExact = estimateInstantly(plan, {}, now) && now.engine != Engine::Textbook;
    std::vector<ChoiceOption> options;
    for (const std::string& id : ids) {
        ChoiceOption option{id, optionTitle(choice, id), {}, {}};
        if (id != chosenOption(choice, plan)) {
            assess(option, choice, plan, original, isExact);
        }
        options.push_back(std::move(option));
    }
    return options;
}

std::vector<PlanEdit> choiceEdits(Choice choice, const TrainingPlan& plan, const TrainingPlan& original,
                                  const std::string& id)
{
    // Back to the original takes its fields with their origins, so that nothing counts as edited.
    const bool isOriginal = id == chosenOption(choice, original);
    const auto reset = [isOriginal](std::vector<PlanEdit> edits, std::initializer_list<const char*> keys) {
        if (isOriginal) {
            edits.clear();
            for (const char* key : keys) {
                edits.push_back({key, {}});
            }
        }
        return edits;
    };
    switch (choice) {
    case Choice::Schedule:
        return reset(scheduleEdits(plan, id), {"parallel.schedule", "parallel.vpp"});
    case Choice::Precision:
        return reset(precisionEdits(plan, id),
                     {"precision.recipe", "precision.params", "precision.grads", "precision.master", "precision.opt_m",
                      "precision.opt_v"});
    case Choice::Optimizer:
        return reset({{"optimizer.name", id}}, {"optimizer.name"});
    case Choice::Sharding:
        return reset(shardingEdits(plan, id), {"shard.zero_stage", "shard.fsdp", "shard.dist_opt"});
    case Choice::Profile:
        return reset({{"implementation.profile", id}}, {"implementation.profile"});
    }
    return {};
}

std::optional<Text> choiceIdle(Choice choice, const TrainingPlan& plan)
{
    if (choice == Choice::Schedule && plan.parallel.pp.valueOr(1) < 2) {
        return Text(HEADROOM_TR("core", "one stage has nothing to schedule"));
    }
    if (choice == Choice::Sharding && knobValue(Knob::DataParallel, plan) * plan.parallel.cp.valueOr(1) < 2) {
        return Text(HEADROOM_TR("core", "one data-parallel rank has nobody to share with"));
    }
    return {};
}

std::vector<std::string> recomputeModules(const TrainingPlan& plan)
{
    std::vector<std::string> modules{"core_attn", "mlp", "layernorm"};
    for (const std::string& module : plan.recompute.modules.value) {
        if (std::find(modules.begin(), modules.end(), module) == modules.end()) {
            modules.push_back(module);
        }
    }
    return modules;
}

} // namespace headroom
