// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/replay.h"

#include "footprint/instant/estimator.h"
#include "footprint/schedule/step_walk.h"
#include "replay/replay_reader.h"

#include <algorithm>
#include <numeric>

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

/// All of a step while that is affordable, never fewer than differ in what is alive.
std::int64_t walkedMicroBatches(const ModelProgram& program, const StageProgram& stage, const ReplayOptions& options)
{
    const std::int64_t affordable = options.mostEvents / (options.steps * eventsPerMicroBatch(program, stage));
    const std::int64_t distinct = distinctMicroBatches(program.shape, stage);
    return std::min(program.shape.microBatches, std::max(affordable, distinct));
}

} // namespace

StageReplay replayStage(const ModelProgram& program, const StageProgram& stage, const ReplayOptions& options)
{
    ReplayOptions ownOptions = options;
    ownOptions.allocator.expandableSegments |= program.usesExpandableSegments;
    ownOptions.allocator.roundupPower2Divisions
        = std::max(ownOptions.allocator.roundupPower2Divisions, program.roundupDivisions);
    if (program.maxSplitBytes > 0) {
        ownOptions.allocator.maxSplitSize = std::min(ownOptions.allocator.maxSplitSize, program.maxSplitBytes);
    }
    ReplayReader reader(program, stage, ownOptions);
    StepWalk<ReplayReader>::Memory memory;
    StepWalk<ReplayReader> walk(program.shape, stage, reader, memory);
    const std::int64_t microBatches = walkedMicroBatches(program, stage, options);
    reader.construct();
    for (int step = 0; step < options.steps && !(options.isCancelled && options.isCancelled()); ++step) {
        reader.beginStep(step + 1 == options.steps);
        walk.run(microBatches);
        reader.endStep();
    }
    StageReplay result = reader.finish();
    result.microBatches = microBatches;
    return result;
}

void takeReplay(const StageReplay& replay, StageFootprint& stage)
{
    const Bytes outside = stage.component(Component::Context); // no business of the allocator
    stage.components = replay.components;
    stage.components[static_cast<std::size_t>(Component::Context)] = outside;
    stage.phases = replay.phases;
    stage.steadyAllocated = replay.steadyAllocated;
    stage.firstStepPeakAllocated = replay.firstStepPeakAllocated;
    stage.peakAllocated = replay.peakAllocated;
    stage.peakReserved = replay.peakReserved;
    stage.peakPhase = replay.peakPhase;
    stage.device = replay.peakReserved + outside;
    stage.intervals.reset();
}

std::optional<Text> objectionToReplay(const ModelProgram& program)
{
    double events = 0;
    for (const StageProgram& stage : program.stages) {
        events
            += 3.0 * static_cast<double>(walkedMicroBatches(program, stage, {}) * eventsPerMicroBatch(program, stage));
    }
    constexpr double mostEvents = 3e8; // half a minute
    return events <= mostEvents ? std::nullopt
                                : std::optional(Text{HEADROOM_TR("core", "a replay of %1 stages would take too long"),
                                                     {std::to_string(program.stages.size())}});
}

namespace {

/// The stages above `worth.low`, the fullest first and until one is above `worth.high`; without the calibration. The
/// engine says whether any was.
Result<void> replayStages(const TrainingPlan& plan, Interval worth, Footprint& footprint)
{
    if (footprint.engine == Engine::Textbook) {
        return {};
    }
    ModelProgram program;
    if (auto built = buildProgram(plan, program); !built) {
        return built;
    }
    if (auto objection = objectionToReplay(program)) {
        footprint.notExact = std::move(objection);
        return {};
    }
    footprint.engine = Engine::Replay;
    std::vector<std::size_t> fullestFirst(footprint.stages.size());
    std::iota(fullestFirst.begin(), fullestFirst.end(), std::size_t{0});
    std::stable_sort(fullestFirst.begin(), fullestFirst.end(), [&footprint](std::size_t a, std::size_t b) {
        return footprint.stages[a].device > footprint.stages[b].device;
    });
    for (const std::size_t i : fullestFirst) {
        StageFootprint& stage = footprint.stages[i];
        if (stage.device < worth.low) {
            break;
        }
        takeReplay(replayStage(program, program.stages[i]), stage);
        if (stage.device > worth.high) {
            break;
        }
    }
    footprint.fullestStage = fullestOf(footprint.stages);
    return {};
}

} // namespace

Result<void> replay(const TrainingPlan& plan, const Calibration& calibration, Footprint& footprint)
{
    if (auto instant = estimateInstantly(plan, calibration, footprint); !instant) {
        return instant;
    }
    auto done = replayStages(plan, everyStage, footprint);
    if (done && footprint.engine == Engine::Replay) {
        calibrate(footprint, calibration);
    }
    return done;
}

Result<void> replayWithin(const TrainingPlan& plan, const Calibration& calibration, Interval worth,
                          Footprint& footprint)
{
    // Calibrated are whole footprints only.
    return calibration.k || calibration.scalesTapes() ? replay(plan, calibration, footprint)
                                                      : replayStages(plan, worth, footprint);
}

} // namespace headroom
