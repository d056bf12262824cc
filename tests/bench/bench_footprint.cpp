// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench_footprint [SECONDS]: estimates of every stage per second on one core, Llama 2 70B, TP 8 with sequence
// parallelism, PP 4. Processor time, so that a busy machine does not change the figure much.
#include "footprint/estimate.h"
#include "footprint/plans.h"
#include "units/number.h"

#include <fmt/format.h>

#include <ctime>

using namespace headroom;

int main(int argc, char** argv)
{
    const double seconds = argc > 1 ? parseReal(argv[1]).value_or(2.0) : 2.0;
    TrainingPlan plan = test::llama2Of70BOverStages();
    Footprint footprint;
    std::int64_t estimates = 0;
    std::int64_t check = 0;
    const std::clock_t start = std::clock();
    double elapsed = 0;
    while (elapsed < seconds) {
        for (int round = 0; round < 1000; ++round) {
            // A slider that moves: no two estimates in a row are of the same plan.
            plan.batch.micro.value = 1 + round % 8;
            if (!estimate(plan, {}, footprint)) {
                fmt::print(stderr, "the plan is refused\n");
                return 1;
            }
            check += footprint.fullest().device.value >> 20;
        }
        estimates += 1000;
        elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    }
    if (check <= 0) {
        return 1;
    }
    fmt::print("footprint_estimates {:.0f} 1/s\n", static_cast<double>(estimates) / elapsed);
    return 0;
}
