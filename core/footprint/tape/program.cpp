// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/program.h"

#include "footprint/megatron/program.h"
#include "footprint/schedule/order.h"
#include "footprint/tape/round_up.h"
#include "footprint/torch/gpt_pipeline.h"
#include "footprint/torch/tapes.h"
#include "units/bytes.h"
#include "units/number.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

/// Chunk passes that a step of every stage has, as far as they differ from each other.
double turnsOfAllStages(const RankShape& shape)
{
    const auto real = [](std::int64_t count) { return static_cast<double>(count); };
    const double waiting
        = shape.deferredWgrads == 0 ? real(shape.microBatches) : real(std::max<std::int64_t>(shape.deferredWgrads, 0));
    const double distinct = splitsBackward(shape.schedule) ? 6 * (real(shape.stages) + 2)
        : shape.schedule == Schedule::GPipe                ? real(shape.microBatches)
        : shape.chunks == 1                                ? real(shape.stages) + 1 + waiting
                                                           : 5 * real(shape.chunkGroup) + waiting;
    return real(shape.stages) * real(shape.chunks) * std::min(distinct, real(shape.microBatches));
}

/// What an earlier program left that few profiles write.
void forgetRarities(ModelProgram& program)
{
    for (Piece& piece : program.pieces) {
        piece.expertParameters.clear();
        piece.frozenParameters.clear();
        piece.frozenExpertParameters.clear();
        piece.frozenMatrices.clear();
        piece.matrices.clear();
        piece.expertMatrices.clear();
        piece.graphs = 0;
        piece.isFrozen = piece.isOnEveryStage = false;
    }
    for (StageProgram& stage : program.stages) {
        stage.hasEncoder = false;
    }
}

Result<void> buildTapes(const TrainingPlan& plan, ModelProgram& program)
{
    program.usesExpandableSegments = plan.implementation.expandableSegments.valueOr(false);
    program.maxSplitBytes = mib(plan.implementation.maxSplitMib.valueOr(0)).value;
    program.roundupDivisions = plan.implementation.roundupDivisions.valueOr(0);
    forgetRarities(program);
    if (const TorchHabits* habits = torchHabits(profileOf(plan))) {
        return buildTorchProgram(plan, *habits, program);
    }
    if (isGptPipeline(profileOf(plan))) {
        return buildGptPipeline(plan, profileOf(plan), program);
    }
    return buildMegatronProgram(plan, program);
}

} // namespace

Result<void> checkWalkable(const RankShape& shape)
{
    constexpr double mostTurns = 4e6; // whatever the input, an answer takes a second at worst
    if (turnsOfAllStages(shape) > mostTurns) {
        return failure(Text{HEADROOM_TR("core", "%1 stages with %2 chunks and %3 micro-batches are too many to walk"),
                            {formatCount(shape.stages), formatCount(shape.chunks), formatCount(shape.microBatches)}});
    }
    return {};
}

Result<void> buildProgram(const TrainingPlan& plan, ModelProgram& program)
{
    auto built = buildTapes(plan, program);
    if (built && program.roundupDivisions > 1) {
        roundUpTapes(program);
    }
    return built;
}

std::int64_t parameterCount(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t count = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const auto* tensors :
                 {&piece.parameters, &piece.expertParameters, &piece.frozenParameters, &piece.frozenExpertParameters}) {
                count += run.count * std::accumulate(tensors->begin(), tensors->end(), std::int64_t{0});
            }
        }
    }
    return count;
}

} // namespace headroom
