// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/precision.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

using enum DataType;

// theory.md 2.1, rows S01a to S01m. The fp32 copy that fp16 training makes of its gradients at the step, Muon's missing
// second moment and Adafactor's factored one follow from optimizer.name, not from data types.
constexpr std::array<PrecisionRecipe, 11> recipes{{
    {"bf16-mixed", "bf16 weights and gradients, fp32 master and Adam (16 B)", Bf16, Bf16, Fp32, Fp32, Fp32},
    {"fp16-mixed", "fp16 weights and gradients, fp32 master and Adam (16 B)", Fp16, Fp16, Fp32, Fp32, Fp32},
    {"fp32", "fp32 throughout (16 B)", Fp32, Fp32, None, Fp32, Fp32},
    {"megatron-bf16", "bf16 weights, fp32 gradient buffer, master and Adam (18 B)", Bf16, Fp32, Fp32, Fp32, Fp32},
    {"megatron-fp16", "fp16 weights and gradients, fp32 copy at the step (16 B + 4 B)", Fp16, Fp16, Fp32, Fp32, Fp32},
    {"bf16-pure", "bf16 throughout (8 B)", Bf16, Bf16, None, Bf16, Bf16},
    {"bf16-adam8bit", "bf16 weights, fp32 master, 8-bit Adam (10 B)", Bf16, Bf16, Fp32, Int8, Int8},
    {"bf16-pure-adam8bit", "bf16 weights, no master, 8-bit Adam (6 B)", Bf16, Bf16, None, Int8, Int8},
    {"fp32-sgd-momentum", "fp32 SGD with momentum (12 B)", Fp32, Fp32, None, Fp32, None},
    {"fp32-sgd", "fp32 SGD (8 B)", Fp32, Fp32, None, None, None},
    {"megatron-bf16-muon", "bf16 weights, fp32 gradients and master, Muon (14 B)", Bf16, Fp32, Fp32, Fp32, None},
}};

DataType stated(const Field<DataType>& field, DataType otherwise)
{
    return field.isKnown() ? field.value : otherwise;
}

/// The recipe that plain dtype names mean in the frameworks' precision keys.
std::string_view recipeOfSpelling(std::string_view name)
{
    if (name == "bf16" || name == "bfloat16") {
        return "bf16-mixed";
    }
    if (name == "fp16" || name == "float16") {
        return "fp16-mixed";
    }
    if (name == "float32" || name == "32") {
        return "fp32";
    }
    return name;
}

} // namespace

std::span<const PrecisionRecipe> precisionRecipes()
{
    return recipes;
}

const PrecisionRecipe* precisionRecipe(std::string_view id)
{
    const std::string_view known = recipeOfSpelling(id);
    const auto found
        = std::find_if(recipes.begin(), recipes.end(), [known](const auto& recipe) { return recipe.id == known; });
    return found == recipes.end() ? nullptr : &*found;
}

bool isPrecisionAware(const TrainingPlan& plan)
{
    return plan.optimizer.impl.value == "precision-aware";
}

PrecisionRecipe effectivePrecision(const TrainingPlan& plan)
{
    const PrecisionPlan& precision = plan.precision;
    const PrecisionRecipe* named = precision.recipe.isKnown() ? precisionRecipe(precision.recipe.value) : nullptr;
    if (named == nullptr && precision.params.isKnown() && precision.params.value == Fp32) {
        // fp32 weights need no master copy, and their gradients are fp32 too.
        named = precisionRecipe("fp32");
    }
    PrecisionRecipe result = named != nullptr ? *named : recipes.front();
    result.params = stated(precision.params, result.params);
    result.grads = stated(precision.grads, result.grads);
    result.master = stated(precision.master, result.master);
    result.optM = stated(precision.optM, result.optM);
    result.optV = stated(precision.optV, result.optV);
    if (isPrecisionAware(plan) && result.params == Bf16 && result.master == Fp32) {
        result.master
            = Bf16; // the upper half is the weight itself (TE optimizers/fused_adam.py, store_param_remainders)
    }
    return result;
}

} // namespace headroom
