// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/torch/habits.h"
#include "footprint/torch/module_operation.h"
#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>

namespace headroom {

/// How the linear layers of PyTorch frameworks compute in 8 bits (precision.fp8), if they do.
struct TorchFloat8
{
    enum class Kind : std::uint8_t {
        None,
        Casts, ///< torchao float8_linear.py and mx_linear.py: input and weight wait as they are, the backward casts
               ///< anew
        Engine ///< Transformer Engine module/linear.py: what was quantised waits, the weight in every layout
    };
    Kind kind = Kind::None;
    bool scalesRows = false; ///< a gradient is cast once for each of its two products
    bool hasExactWeightGradients = false; ///< those are products in 16 bits (rowwise_with_gw_hp)
    bool gathers = false; ///< FSDP's ranks send a byte an element, which is what the layer reads
    bool isFused = false; ///< by the compiler: a cast is one kernel, without fp32 tensors between
    std::int64_t layouts
        = 2; ///< of what Transformer Engine quantises: by row and, where its products want it, transposed
    double element = 1, weightElement = 1; ///< bytes with the scales

    /// A linear layer whose sizes _scaled_mm takes, multiples of 16; others stay as they are.
    [[nodiscard]] bool computes(std::int64_t in, std::int64_t out) const
    {
        return kind != Kind::None && in % 16 == 0 && out % 16 == 0;
    }

    struct Product
    {
        std::int64_t rows = 0, in = 0, out = 0;
        std::int64_t element = 2; ///< bytes of what is not cast
        bool isTrained = true;
        bool needsGradient = true; ///< of the input or the weight
    };
    /// What such a product saves, keeps and takes for a while.
    void describe(const Product& product, ModuleOperation& operation) const;

private:
    void describeCasts(const Product& product, ModuleOperation& operation) const;
    void describeEagerCasts(const Product& product, ModuleOperation& operation) const;
};

/// Fails where the framework has no such layers, or not these.
[[nodiscard]] Result<TorchFloat8> torchFloat8(const TrainingPlan& plan, const TorchHabits& habits);

} // namespace headroom
