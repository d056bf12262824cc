// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan may leave open: what is taken then, and what else it could be.
#pragma once

#include "plan/training_plan.h"

#include <string_view>
#include <vector>

namespace headroom {

/// A plan with what the conditions of rows ask about it.
struct AssumptionCase
{
    const TrainingPlan& plan;
    bool isMegatron = false, isTorch = false;
    bool isFormless = false; ///< no framework whose own defaults would be known
};

struct AssumptionChoice
{
    std::string_view value; ///< as shown
    bool isPlausible = false;
    std::string_view field = {}; ///< set where it is not the row's own
    std::string_view fieldValue = {};
    std::string_view alsoField = {}, alsoValue = {};
};

struct AssumptionRow
{
    std::string_view field;
    std::string_view taken;
    const char* text;
    bool (*matters)(const AssumptionCase&);
    std::vector<AssumptionChoice> choices;
    bool isRange = false;
};

/// Every row, by subject.
[[nodiscard]] std::vector<AssumptionRow> assumptionRows();
[[nodiscard]] AssumptionCase assumptionCase(const TrainingPlan& plan);

} // namespace headroom
