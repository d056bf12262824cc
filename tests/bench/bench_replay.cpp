// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench_replay [SECONDS]: both readers of the tapes on one core, Llama 2 70B, TP 8 with sequence parallelism, PP 4, all
// stages and phases. Processor time, so that a busy machine does not change the figures much.
#include "footprint/instant/estimator.h"
#include "footprint/plans.h"
#include "replay/replay.h"
#include "units/number.h"

#include <fmt/format.h>

#include <ctime>

using namespace headroom;

namespace {

/// Calls `work` until `seconds` are over; returns calls per second.
template <class Work> double rate(double seconds, std::int64_t batch, Work&& work)
{
    const std::clock_t start = std::clock();
    std::int64_t calls = 0;
    double elapsed = 0;
    while (elapsed < seconds) {
        for (std::int64_t i = 0; i < batch; ++i) {
            work(calls + i);
        }
        calls += batch;
        elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    return static_cast<double>(calls) / elapsed;
}

} // namespace

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? parseReal(argv[1]).value_or(2.0) : 2.0;
    TrainingPlan plan = test::llama2Of70BOverStages();
    bool isFine = true;
    std::int64_t check = 0;
    InstantEstimator estimator;
    std::vector<StageFootprint> stages;
    const double estimates = rate(seconds, 1000, [&](std::int64_t i) {
        plan.batch.micro.value = 1 + i % 8; // a slider that moves
        isFine = isFine && estimator.run(plan, stages).has_value();
        check += stages.front().peakAllocated.value >> 20;
    });
    fmt::print("instant_estimates {:.0f} 1/s\n", estimates);

    Footprint footprint;
    const double footprints = rate(seconds, 100, [&](std::int64_t i) {
        plan.batch.micro.value = 1 + i % 8;
        isFine = isFine && estimateInstantly(plan, {}, footprint).has_value();
        check += footprint.fullest().device.value >> 20;
    });
    fmt::print("instant_footprints {:.0f} 1/s\n", footprints);

    std::int64_t events = 0;
    const double replays = rate(seconds, 1, [&](std::int64_t i) {
        plan.batch.micro.value = 1 + i % 8;
        isFine = isFine && estimator.run(plan, stages).has_value();
        events = 0;
        for (const StageProgram& stage : estimator.program().stages) {
            events += replayStage(estimator.program(), stage).events;
        }
    });
    fmt::print("replays {:.1f} 1/s\nreplay_length {} events\nreplay_events {:.2f} million/s\n", replays, events,
               replays * static_cast<double>(events) / 1e6);
    return isFine && check > 0 && events > 0 ? 0 : 1;
}
