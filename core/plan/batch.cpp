// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/batch.h"

#include "plan/encoder_placement.h"

#include <algorithm>
#include <limits>

namespace headroom {

namespace {

std::optional<std::int64_t> stated(const Count& count)
{
    return count.isKnown() && count.value > 0 ? std::optional(count.value) : std::nullopt;
}

/// a·b without overflow; nothing a run could have comes near the limit.
std::int64_t product(std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

std::optional<std::int64_t> knownDataParallelSize(const TrainingPlan& plan)
{
    if (const auto dp = stated(plan.parallel.dp)) {
        return dp;
    }
    const auto world = stated(plan.parallel.world);
    const std::int64_t modelParallel = modelParallelSize(plan);
    if (world && *world % modelParallel == 0) {
        return *world / modelParallel;
    }
    return std::nullopt;
}

} // namespace

BatchEquation batchEquation(const TrainingPlan& plan)
{
    BatchEquation equation{stated(plan.batch.micro),
                           stated(plan.batch.accum),
                           knownDataParallelSize(plan),
                           stated(plan.batch.global),
                           {},
                           {}};
    if (!equation.dataParallel && equation.micro && equation.accumulate && equation.global
        && *equation.global % product(*equation.micro, *equation.accumulate) == 0) {
        equation.dataParallel = *equation.global / product(*equation.micro, *equation.accumulate);
    }
    equation.dataParallel = equation.dataParallel.value_or(1);
    if (!equation.accumulate && equation.micro && equation.global) {
        const std::int64_t perAccumulation = product(*equation.micro, *equation.dataParallel);
        if (*equation.global % perAccumulation == 0) {
            equation.accumulate = *equation.global / perAccumulation;
        }
    }
    if (!equation.accumulate && !equation.global) {
        equation.accumulate = 1;
    }
    if (!equation.micro && equation.accumulate && equation.global) {
        const std::int64_t perSample = product(*equation.accumulate, *equation.dataParallel);
        if (*equation.global % perSample == 0) {
            equation.micro = *equation.global / perSample;
        }
    }
    if (equation.micro) {
        // Without an accumulation that fits, the product of what is there still shows by how much it misses.
        equation.product = product(product(*equation.micro, equation.accumulate.value_or(1)), *equation.dataParallel);
        equation.global = equation.global.value_or(*equation.product);
        equation.holds = *equation.product == *equation.global;
    }
    return equation;
}

std::int64_t dataParallelSize(const TrainingPlan& plan)
{
    return batchEquation(plan).dataParallel.value_or(1);
}

std::int64_t microBatchesPerStep(const TrainingPlan& plan)
{
    if (const auto accumulation = batchEquation(plan).accumulate) {
        return *accumulation;
    }
    // A global batch that does not divide: the framework would refuse it, so the next whole number is as good as any.
    const std::int64_t perAccumulation
        = product(std::max<std::int64_t>(plan.batch.micro.valueOr(1), 1), dataParallelSize(plan));
    return std::max<std::int64_t>((plan.batch.global.valueOr(1) + perAccumulation - 1) / perAccumulation, 1);
}

std::int64_t worldSize(const TrainingPlan& plan)
{
    return stated(plan.parallel.world).value_or(product(modelParallelSize(plan), dataParallelSize(plan)));
}

} // namespace headroom
