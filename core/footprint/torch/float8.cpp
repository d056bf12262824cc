// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/float8.h"

#include "footprint/tape/shape.h"
#include "footprint/torch/shape.h"
#include "plan/precision.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom {

using enum TensorKind;

namespace {

std::int64_t scaled(std::int64_t elements, double element)
{
    return std::llround(static_cast<double>(elements) * element);
}

/// A scale of one byte for 32 elements (MX), of four for 128 of an input and for 128 × 128 of a weight (blockwise).
void readScales(const std::string& recipe, TorchFloat8& float8)
{
    if (recipe == "mxfp8") {
        float8.element = float8.weightElement = 1 + 1.0 / 32;
    } else if (recipe == "blockwise") {
        float8.element = 1 + 4.0 / 128;
        float8.weightElement = 1 + 4.0 / (128.0 * 128);
    }
}

Result<void> check(const TrainingPlan& plan, const TorchHabits& habits, TorchFloat8::Kind kind)
{
    const std::string& recipe = plan.precision.fp8.value;
    const bool hasAny = habits.castsToFloat8 || habits.hasEngineLayers;
    for (const auto& [has, sentence] : {
             std::pair{!recipe.empty() && !hasAny,
                       HEADROOM_TR("core", "%1 has no linear layers in 8 bits: leave precision.fp8 out")},
             std::pair{!recipe.empty() && kind == TorchFloat8::Kind::None && habits.castsToFloat8,
                       HEADROOM_TR("core",
                                   "the linear layers of %1 compute in 8 bits by torchao's recipes: set "
                                   "precision.fp8 to tensorwise, rowwise, rowwise_with_gw_hp or mxfp8")},
             std::pair{!recipe.empty() && kind == TorchFloat8::Kind::None,
                       HEADROOM_TR("core",
                                   "the linear layers of %1 compute in 8 bits by Transformer Engine's recipes: set "
                                   "precision.fp8 to delayed, blockwise or mxfp8")},
             std::pair{!recipe.empty() && isQuantised(effectivePrecision(plan).params),
                       HEADROOM_TR("core",
                                   "%1 computes with quantised weights in 16 bits: leave precision.fp8 or the "
                                   "quantised precision.params out")},
             std::pair{plan.precision.fp8Params.value
                           && (!plan.shard.fsdp.value || usesFirstFsdp(plan, habits) || recipe != "tensorwise"
                               || kind != TorchFloat8::Kind::Casts),
                       HEADROOM_TR("core",
                                   "%1 keeps weights in 16 or 32 bits and gathers them in 8 under the second FSDP "
                                   "(shard.fsdp_version 2) with precision.fp8 set to tensorwise: leave "
                                   "precision.fp8_params out")},
         }) {
        if (has) {
            return failure(Text{sentence, {std::string(habits.profile)}});
        }
    }
    return {};
}

} // namespace

Result<TorchFloat8> torchFloat8(const TrainingPlan& plan, const TorchHabits& habits)
{
    const std::string& recipe = plan.precision.fp8.value;
    const bool isMx = recipe == "mxfp8", scalesRows = recipe.starts_with("rowwise");
    TorchFloat8 float8;
    if (habits.hasEngineLayers && (isMx || recipe == "delayed" || recipe == "blockwise")) {
        float8.kind = TorchFloat8::Kind::Engine;
    } else if (habits.castsToFloat8
               && (isMx || recipe == "tensorwise" || recipe == "rowwise" || recipe == "rowwise_with_gw_hp")) {
        float8.kind = TorchFloat8::Kind::Casts;
    }
    if (auto possible = check(plan, habits, float8.kind); !possible) {
        return tl::unexpected(std::move(possible.error()));
    }
    float8.scalesRows = scalesRows || isMx;
    float8.hasExactWeightGradients = recipe == "rowwise_with_gw_hp";
    float8.gathers = plan.precision.fp8Params.value;
    float8.isFused = plan.implementation.compile.valueOr(false);
    // Blackwell multiplies either layout of a tensor with one scale (theory_dense.md rule 8).
    float8.layouts = recipe == "delayed" && computeCapability(plan.hardware) >= 10 ? 1 : 2;
    readScales(recipe, float8);
    return float8;
}

void TorchFloat8::describe(const Product& product, ModuleOperation& operation) const
{
    if (kind == Kind::Casts) {
        return describeCasts(product, operation);
    }
    const std::int64_t input = scaled(product.rows * product.in, element);
    const std::int64_t weight = scaled(product.in * product.out, weightElement);
    operation.saves[0] = false;
    if (!product.needsGradient) {
        operation.forwardWork = input + weight;
        return;
    }
    // Of the input only the layout that the weight's gradient wants stays; nothing says that a weight's copies would
    // serve the next micro-batch (module/base.py, get_weight_workspace without is_first_microbatch).
    if (product.isTrained) {
        operation.keeps.push_back({Fp8Inputs, input});
    }
    operation.keeps.push_back({WeightCopies, layouts * weight});
    operation.backwardWork += layouts * scaled(product.rows * product.out, element);
}

/// torchao float8_linear.py, matmul_with_hp_or_float8_args. The compiler drops what was read and casts into the layout
/// that the product wants, one kernel each.
void TorchFloat8::describeCasts(const Product& product, ModuleOperation& operation) const
{
    const std::int64_t input = scaled(product.rows * product.in, element);
    const std::int64_t gradient = scaled(product.rows * product.out, element);
    const std::int64_t weight = scaled(product.in * product.out, weightElement);
    if (!isFused) {
        return describeEagerCasts(product, operation);
    }
    operation.forwardWork = input + (gathers ? 0 : weight);
    operation.saves[0] = product.isTrained;
    const bool castsInput = product.isTrained && !hasExactWeightGradients;
    operation.backwardWork += gradient + std::max(weight, castsInput ? input : 0);
}

/// Without the compiler all variables live until the function returns, and operands are copied into the layout that the
/// product wants (float8_ops.py, preprocess_addmm). A cast is an fp32 tensor, and one more times its scale or clamped
/// (float8_tensor.py, _ToFloat8ConstrFunc). The gradient of a frozen weight is made all the same.
void TorchFloat8::describeEagerCasts(const Product& product, ModuleOperation& operation) const
{
    constexpr std::int64_t wide = 8;
    const std::int64_t inputs = product.rows * product.in, gradients = product.rows * product.out;
    const std::int64_t weights = product.in * product.out;
    const std::int64_t input = scaled(inputs, element), gradient = scaled(gradients, element);
    const std::int64_t turned = scaled(weights, weightElement), weight = gathers ? 0 : turned;
    const std::int64_t castWeight = gathers ? 0 : wide * weights + weight;
    const std::int64_t early = std::max(wide * inputs + input, input + castWeight);
    operation.forwardWork = std::max(input + weight, early - operation.bytes);

    operation.saves[0] = true;
    const std::int64_t second = hasExactWeightGradients
        ? 0
        : (scalesRows ? gradient : 0) + std::max(gradient + 2 * input, wide * inputs + input);
    const std::int64_t unwanted = product.isTrained ? 0 : weights * product.element;
    const std::int64_t first = std::max(wide * gradients + gradient, gradient + castWeight);
    operation.backwardWork
        += std::max(gradient + weight + std::max(turned, second) + unwanted, first - inputs * product.element);
}

} // namespace headroom
