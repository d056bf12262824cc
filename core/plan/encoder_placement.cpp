// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan/encoder_placement.h"

#include <algorithm>
#include <limits>

namespace headroom {

namespace {

/// Without overflow; nothing a run could have comes near the limit.
std::int64_t product(std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

std::int64_t sum(std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

std::int64_t atLeastOne(const Count& count)
{
    return std::max<std::int64_t>(count.value, 1);
}

} // namespace

EncoderPlacement encoderPlacement(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    if (plan.vision.layers.value <= 0) {
        return EncoderPlacement::FirstStage;
    }
    if (parallel.encoderPlacement.isKnown()) {
        const std::string& name = parallel.encoderPlacement.value;
        return name == "own_stages" ? EncoderPlacement::OwnStages
            : name == "every_stage" ? EncoderPlacement::EveryStage
                                    : EncoderPlacement::FirstStage;
    }
    return parallel.encoderPp.value > 0 ? EncoderPlacement::OwnStages : EncoderPlacement::FirstStage;
}

std::int64_t encoderStages(const TrainingPlan& plan)
{
    return encoderPlacement(plan) == EncoderPlacement::OwnStages ? atLeastOne(plan.parallel.encoderPp) : 0;
}

std::int64_t encoderTensorParallel(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const bool isOwn = encoderPlacement(plan) != EncoderPlacement::FirstStage;
    const bool isWhole = parallel.encoderTp.value == 1;
    return isWhole || (isOwn && parallel.encoderTp.value > 0) ? parallel.encoderTp.value : atLeastOne(parallel.tp);
}

std::int64_t encoderCopies(const TrainingPlan& plan)
{
    if (encoderPlacement(plan) != EncoderPlacement::EveryStage) {
        return 1;
    }
    const std::int64_t perStage = atLeastOne(plan.parallel.tp) / encoderTensorParallel(plan);
    return product(atLeastOne(plan.parallel.pp), std::max<std::int64_t>(perStage, 1));
}

std::int64_t modelParallelSize(const TrainingPlan& plan)
{
    const ParallelPlan& parallel = plan.parallel;
    const std::int64_t language = product(atLeastOne(parallel.tp), atLeastOne(parallel.pp));
    const std::int64_t encoder = product(encoderTensorParallel(plan), encoderStages(plan));
    return product(sum(language, encoder), atLeastOne(parallel.cp));
}

} // namespace headroom
