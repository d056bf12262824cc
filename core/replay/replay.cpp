// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/replay.h"

#include "footprint/tape_walk.h"
#include "replay/replay_reader.h"

#include <algorithm>

namespace headroom {

namespace {

std::int64_t eventsPerMicroBatch(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t events = 1;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Tape& tape = program.pieces[run.piece].tape;
            events += run.count * static_cast<std::int64_t>(tape.forward.size() + tape.backward.size());
        }
    }
    return events;
}

} // namespace

StageReplay replayStage(const ModelProgram& program, const StageProgram& stage, const ReplayOptions& options)
{
    ReplayReader reader(program, stage, options);
    StepWalk<ReplayReader> walk(program.shape, stage, reader);
    const std::int64_t affordable = options.mostEvents / (options.steps * eventsPerMicroBatch(program, stage));
    const std::int64_t distinct = StepWalk<ReplayReader>::distinctMicroBatches(program.shape, stage);
    const std::int64_t microBatches = std::min(program.shape.microBatches, std::max(affordable, distinct));
    reader.construct();
    for (int step = 0; step < options.steps; ++step) {
        reader.beginStep(step + 1 == options.steps);
        walk.run(microBatches);
        reader.endStep();
    }
    return reader.finish();
}

} // namespace headroom
