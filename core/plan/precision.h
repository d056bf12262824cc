// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <span>
#include <string_view>

namespace headroom {

/// A named combination of data types (theory.md 2.1).
struct PrecisionRecipe
{
    std::string_view id; ///< "bf16-mixed"
    std::string_view title;
    DataType params, grads, master, optM, optV;
};

[[nodiscard]] std::span<const PrecisionRecipe> precisionRecipes();
/// Null for an unknown name.
[[nodiscard]] const PrecisionRecipe* precisionRecipe(std::string_view id);

/// Whether the optimizer is Megatron-Core's precision-aware one with Transformer Engine's own masters
/// (optimizer_config.py; theory.md 2.2).
[[nodiscard]] bool isPrecisionAware(const TrainingPlan& plan);

/// The data types a plan trains with: what it states, then its recipe, then 16-bit weights and gradients with fp32
/// master weights and Adam moments (16 bytes per parameter). A master of which the lower half is kept is as bf16.
[[nodiscard]] PrecisionRecipe effectivePrecision(const TrainingPlan& plan);

} // namespace headroom
