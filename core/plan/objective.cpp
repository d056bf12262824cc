// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/objective.h"

#include <algorithm>
#include <array>
#include <limits>

namespace headroom {

namespace {

struct Objective
{
    std::string_view type;
    bool isInPairs = false, hasReference = false, hasClassifier = false;
};

/// What TRL's and ms-swift's trainers do: GRPO compares with a reference only where a weight is given to it.
constexpr std::array<Objective, 10> objectives{{
    {"pretrain"},
    {"sft"},
    {"dpo", true, true},
    {"kto", false, true},
    {"orpo", true},
    {"simpo", true},
    {"cpo", true},
    {"rm", true, false, true},
    {"ppo", false, true},
    {"grpo"},
}};

const Objective& objectiveOf(const TrainingPlan& plan)
{
    const auto* found = std::find_if(objectives.begin(), objectives.end(), [&plan](const Objective& objective) {
        return plan.objective.type.isKnown() && objective.type == plan.objective.type.value;
    });
    return found == objectives.end() ? objectives.front() : *found;
}

/// TRL's PPOTrainer (trl/trainer/ppo_trainer.py, from memory), whose models are transformers'.
bool isTrlPpo(const TrainingPlan& plan)
{
    return plan.objective.type.value == "ppo" && plan.implementation.profile.value.starts_with("hf");
}

} // namespace

ReferenceModel referenceModel(const TrainingPlan& plan)
{
    const Name& stated = plan.objective.reference;
    const bool hasAdapters = plan.lora.rank.valueOr(0) > 0;
    if (stated.isKnown()) {
        return stated.value == "separate"    ? ReferenceModel::Separate
            : stated.value == "adapters_off" ? ReferenceModel::AdaptersOff
                                             : ReferenceModel::None;
    }
    return !objectiveOf(plan).hasReference ? ReferenceModel::None
        : hasAdapters                      ? ReferenceModel::AdaptersOff
                                           : ReferenceModel::Separate;
}

ValueModel valueModel(const TrainingPlan& plan)
{
    const Name& stated = plan.objective.value;
    if (stated.isKnown()) {
        return stated.value == "head"    ? ValueModel::Head
            : stated.value == "separate" ? ValueModel::Separate
            : stated.value == "in_turn"  ? ValueModel::InTurn
                                         : ValueModel::None;
    }
    return isTrlPpo(plan) ? ValueModel::Separate : ValueModel::None;
}

RewardModel rewardModel(const TrainingPlan& plan)
{
    const Name& stated = plan.objective.reward;
    if (stated.isKnown()) {
        return stated.value == "separate" ? RewardModel::Separate
            : stated.value == "adapters"  ? RewardModel::Adapters
                                          : RewardModel::None;
    }
    return isTrlPpo(plan) ? RewardModel::Separate : RewardModel::None;
}

bool trainsPolicyWithValue(const TrainingPlan& plan)
{
    const ValueModel value = valueModel(plan);
    return value == ValueModel::Head || value == ValueModel::Separate;
}

/// PPO and GRPO have both from the rollout (trl/trainer/ppo_trainer.py, train; grpo_trainer.py,
/// _generate_and_score_completions; from memory).
bool comparesInStep(const TrainingPlan& plan)
{
    const std::string_view type = objectiveOf(plan).type;
    return referenceModel(plan) != ReferenceModel::None && type != "ppo" && type != "grpo";
}

std::int64_t sequencesPerSample(const TrainingPlan& plan)
{
    return objectiveOf(plan).isInPairs && !plan.batch.packing.value ? 2 : 1;
}

std::int64_t sequencesPerMicroBatch(const TrainingPlan& plan)
{
    const std::int64_t micro = std::max<std::int64_t>(plan.batch.micro.value, 1);
    std::int64_t result = 0;
    return __builtin_mul_overflow(micro, sequencesPerSample(plan), &result) ? std::numeric_limits<std::int64_t>::max()
                                                                            : result;
}

bool takesLogProbabilities(const TrainingPlan& plan)
{
    const Objective& objective = objectiveOf(plan);
    return (objective.isInPairs && !objective.hasClassifier) || objective.hasReference || objective.type == "grpo";
}

std::optional<std::int64_t> classifierLabels(const TrainingPlan& plan)
{
    const bool isClassifier
        = plan.objective.head.isKnown() ? plan.objective.head.value == "classifier" : objectiveOf(plan).hasClassifier;
    return isClassifier ? std::optional(std::max<std::int64_t>(plan.objective.labels.valueOr(1), 1)) : std::nullopt;
}

bool isObjective(std::string_view type)
{
    return std::any_of(objectives.begin(), objectives.end(),
                       [type](const Objective& objective) { return objective.type == type; });
}

bool isReference(std::string_view reference)
{
    return reference == "none" || reference == "separate" || reference == "adapters_off";
}

bool isHead(std::string_view head)
{
    return head == "lm" || head == "classifier";
}

bool isValue(std::string_view value)
{
    return value == "none" || value == "head" || value == "separate" || value == "in_turn";
}

bool isReward(std::string_view reward)
{
    return reward == "none" || reward == "separate" || reward == "adapters";
}

} // namespace headroom
