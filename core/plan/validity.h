// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

/// Everything that makes the plan impossible or absurd: sizes below one or beyond what a run can have, tensor
/// parallelism that does not divide the heads, more stages than layers, sequence parallelism without tensor
/// parallelism, … Errors make an estimate impossible, warnings do not. File and line are those of the offending value.
[[nodiscard]] std::vector<Problem> validate(const TrainingPlan& plan);

/// Why a run can't have this size, below one or far beyond any real run; nothing for one that it can have, and for keys
/// that are not sizes.
[[nodiscard]] std::optional<Text> sizeObjection(std::string_view key, std::int64_t value);

/// How many layers each stage holds (theory.md 1.8): explicit first and last counts, otherwise an even split with the
/// remainder on the first stages. Empty when the counts contradict each other, or for more stages than validate()
/// allows.
[[nodiscard]] std::vector<std::int64_t> layersPerStage(const TrainingPlan& plan);

} // namespace headroom
