// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch.h"
#include "plan/batch.h"

namespace headroom {

Result<void> buildTorchProgram(const TrainingPlan& plan, const TorchHabits& habits, ModelProgram& program)
{
    auto known = torchShape(plan, habits);
    if (!known) {
        return tl::unexpected(std::move(known.error()));
    }
    const TorchShape& shape = *known;
    RankShape& rank = program.shape;
    rank = RankShape{};
    rank.hidden = shape.model.hidden;
    rank.layers = shape.model.layers;
    rank.element = shape.compute;
    rank.sequence = shape.tokens;
    rank.sequenceShards = shape.sequenceShards;
    rank.microBatches = microBatchesPerStep(plan);
    program.hasOwnState = true;
    program.usesExpandableSegments = plan.implementation.expandableSegments.valueOr(habits.setsExpandableSegments);
    program.persistents.all.clear();
    program.pieces.resize(3);
    writeTorchEmbedding(shape, program.persistents, program.pieces[0]);
    writeTorchBlock(shape, program.persistents, program.pieces[1]);
    writeTorchHead(shape, program.persistents, program.pieces[2]);

    program.stages.resize(1);
    StageProgram& stage = program.stages.front();
    stage.stage = stage.firstLayer = 0;
    stage.layers = shape.model.layers;
    stage.tensors = torchState(shape, shape.model.layers);
    stage.chunks.resize(1);
    Chunk& chunk = stage.chunks.front();
    chunk = Chunk{};
    for (int i = 0; i < 2; ++i) { // tokens and labels
        chunk.loaded.push_back(
            {(shape.tokens * 8 + 511) & ~std::int64_t{511}, Tape::Op::Allocate, TensorKind::Batch, 0});
    }
    PieceRun blocks{1, shape.model.layers, shape.checkpoints ? 1 : 0};
    blocks.offloadsInput = shape.offloadsInputs;
    chunk.runs = {{0, 1, 0}, blocks, {2, 1, 0}};
    return {};
}

} // namespace headroom
