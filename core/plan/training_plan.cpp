// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/training_plan.h"

namespace headroom {

TrainingPlan::TrainingPlan() = default;
TrainingPlan::TrainingPlan(const TrainingPlan& other) = default;
TrainingPlan::TrainingPlan(TrainingPlan&& other) noexcept = default;
TrainingPlan& TrainingPlan::operator=(const TrainingPlan& other) = default;
TrainingPlan& TrainingPlan::operator=(TrainingPlan&& other) noexcept = default;
TrainingPlan::~TrainingPlan() = default;

} // namespace headroom
