// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/finding.h"
#include "plan/training_plan.h"
#include "units/text.h"

#include <QString>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What the user picks from a list. Some stand for several canonical fields: sharding is ZeRO, FSDP or Megatron's
/// distributed optimizer.
enum class Choice : std::uint8_t { Schedule, Precision, Optimizer, Sharding, Profile };
inline constexpr std::array allChoices{Choice::Schedule, Choice::Precision, Choice::Optimizer, Choice::Sharding,
                                       Choice::Profile};

struct ChoiceOption
{
    std::string id;
    QString title;
    /// Why it can't be chosen; it is then shown, but cannot be taken.
    std::optional<Text> objection;
    /// What to know before: "textbook recipe only: …".
    std::optional<Text> caution;
};

/// The option in effect; an id of its own for what is in none of the lists.
[[nodiscard]] std::string chosenOption(Choice choice, const TrainingPlan& plan);

/// What can be chosen, the one in effect and the original's included. Estimates the plan with each of them: not for
/// every tick of a slider.
[[nodiscard]] std::vector<ChoiceOption> choiceOptions(Choice choice, const TrainingPlan& plan,
                                                      const TrainingPlan& original);

[[nodiscard]] std::vector<PlanEdit> choiceEdits(Choice choice, const TrainingPlan& plan, const TrainingPlan& original,
                                                const std::string& id);

/// Why choosing makes no difference for this plan.
[[nodiscard]] std::optional<Text> choiceIdle(Choice choice, const TrainingPlan& plan);

[[nodiscard]] QString choiceTitle(Choice choice);
[[nodiscard]] QString choiceMeaning(Choice choice);
/// "ZeRO-2", for lists and undo.
[[nodiscard]] QString optionTitle(Choice choice, const std::string& id);

/// Parts of a layer that selective recomputation can name: those the tapes know, and those the plan names.
[[nodiscard]] std::vector<std::string> recomputeModules(const TrainingPlan& plan);
[[nodiscard]] QString moduleTitle(const std::string& module);

} // namespace headroom
