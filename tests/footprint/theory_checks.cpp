// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/theory_checks.h"

#include "footprint/recipe/state.h"

#include <algorithm>
#include <numeric>

namespace headroom::test {

namespace {

bool isOfLogits(TensorKind kind)
{
    return kind == TensorKind::Logits || kind == TensorKind::LogitsSoftmax || kind == TensorKind::LogitsGradient;
}

} // namespace

TrainingPlan llama(FieldTexts own)
{
    return planOf(
        own, planOf({{"precision.recipe", "megatron-bf16"}, {"implementation.loader_mask", "false"}}, llama3Of8B()));
}

const Tape& lastTape(const ModelProgram& program)
{
    return program.pieces[program.stages.back().chunks.back().runs.back().piece].tape;
}

double perParameter(const TrainingPlan& plan)
{
    const StateRecipe recipe = stateRecipe(plan);
    const Sharding sharding = shardingOf(plan, splitOf(plan));
    return recipe.parameter / sharding.parameters + (recipe.gradient + recipe.gradientCopy) / sharding.gradients
        + (recipe.master + recipe.moments) / sharding.optimizer;
}

std::int64_t bytesOf(const Events& events, TensorKind kind)
{
    return std::accumulate(events.begin(), events.end(), std::int64_t{0}, [kind](std::int64_t sum, const auto& event) {
        return sum + (event.op == Tape::Op::Allocate && event.kind == kind ? event.bytes : 0);
    });
}

std::int64_t bytesOf(const Events& events)
{
    return std::accumulate(events.begin(), events.end(), std::int64_t{0}, [](std::int64_t sum, const auto& event) {
        return sum + (event.op == Tape::Op::Allocate ? event.bytes : 0);
    });
}

bool allocates(const Events& events, std::int64_t bytes)
{
    return std::any_of(events.begin(), events.end(), [bytes](const Tape::Event& event) {
        return event.op == Tape::Op::Allocate && event.bytes == bytes;
    });
}

std::int64_t logitsPeak(const Tape& tape, const Events& events, std::int64_t before)
{
    std::int64_t now = before, peak = before;
    for (const Tape::Event& event : events) {
        if (event.op == Tape::Op::Allocate && isOfLogits(event.kind)) {
            now += event.bytes;
        } else if (event.op == Tape::Op::Free && isOfLogits(tape.storages[event.slot].kind)) {
            now -= tape.storages[event.slot].bytes;
        }
        peak = std::max(peak, now);
    }
    return peak;
}

std::int64_t logitsSaved(const Tape& tape)
{
    return bytesOf(tape.saved, TensorKind::Logits) + bytesOf(tape.saved, TensorKind::LogitsSoftmax);
}

} // namespace headroom::test
