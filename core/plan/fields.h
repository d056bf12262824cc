// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

#include <string_view>

namespace headroom {

/// Calls visit(std::string_view key, field) for every field of the plan, in the order of configs.md
/// section 1. This list is the only place that pairs canonical keys ("parallel.pp") with members.
template <class Plan, class Visitor> void forEachField(Plan& plan, Visitor&& visit);

/// Sets the field with this canonical key from text, as a file or a command line has it. Refused when the key is
/// unknown or the text does not mean a value of the field's type; the plan is then unchanged.
[[nodiscard]] Result<void> setField(TrainingPlan& plan, std::string_view key, std::string_view text, Origin origin);
/// The field's value as text that setField reads back; empty when it is not known or the key does not exist.
[[nodiscard]] std::string fieldText(const TrainingPlan& plan, std::string_view key);
[[nodiscard]] Origin fieldOrigin(const TrainingPlan& plan, std::string_view key);
[[nodiscard]] bool isFieldKey(std::string_view key);

struct FieldDifference
{
    std::string key;
    std::string before; ///< empty: not known
    std::string after;
};
[[nodiscard]] std::vector<FieldDifference> difference(const TrainingPlan& before, const TrainingPlan& after);

/// Fields known in `over` replace those of `plan`, origins included. Fields that are mere defaults in `over`
/// only take the place of unknown ones. A value that `over` states without its being understood is unknown then.
void overlay(TrainingPlan& plan, const TrainingPlan& over);

} // namespace headroom

#include "plan/fields_visit.h"
