// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>
#include <optional>

namespace headroom {

/// The global-batch equation: global = micro × accumulate × data-parallel (configs.md section 2). A term nobody stated
/// is derived from the others where they determine it; `holds` is unknown while a term is missing.
struct BatchEquation
{
    std::optional<std::int64_t> micro, accumulate, dataParallel, global;
    std::optional<bool> holds;
    std::optional<std::int64_t> product; ///< micro × accumulate × data-parallel
};

[[nodiscard]] BatchEquation batchEquation(const TrainingPlan& plan);

/// Data-parallel size: stated, or world/modelParallelSize() where that is an integer, else 1.
[[nodiscard]] std::int64_t dataParallelSize(const TrainingPlan& plan);
/// Micro-batches per step and data-parallel rank (m): stated accumulation, else global/(micro·dp), else 1.
[[nodiscard]] std::int64_t microBatchesPerStep(const TrainingPlan& plan);
/// GPUs of one run: stated, else dp·modelParallelSize().
[[nodiscard]] std::int64_t worldSize(const TrainingPlan& plan);

} // namespace headroom
