// SPDX-License-Identifier: GPL-3.0-or-later
//
// bench_fit [REPEATS]: the smallest change that fits, for plans of every kind, the replay having the last word. Of each
// search the shortest of the repeats: processor time of all threads and time on the clock.
#include "insight/fit.h"
#include "insight/fit_plans.h"
#include "insight/insight_fixture.h"
#include "replay/replay.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

using namespace headroom;

namespace {

struct Time
{
    double processor = 1e300, clock = 1e300; ///< milliseconds

    void take(double newProcessor, double newClock)
    {
        processor = std::min(processor, newProcessor);
        clock = std::min(clock, newClock);
    }
};

FitQuestion questionOf(const TrainingPlan& plan, int capacityGib)
{
    FitQuestion question;
    question.plan = &plan;
    question.capacity = Bytes{std::int64_t{capacityGib} << 30};
    question.exact = replayWithin;
    return question;
}

bool measure(const FitQuestion& question, Time& time)
{
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processorStart = std::clock();
    const auto answer = smallestChangeThatFits(question);
    const std::chrono::duration<double, std::milli> clock = std::chrono::steady_clock::now() - start;
    time.take(1000.0 * static_cast<double>(std::clock() - processorStart) / CLOCKS_PER_SEC, clock.count());
    return answer && !answer->fits;
}

} // namespace

int main(int argc, char** argv)
{
    const std::int64_t repeats = argc > 1 ? parseInteger(argv[1]).value_or(3) : 3;
    bool isFine = true;
    Time longest{0, 0};
    for (const test::FitPlan& row : test::fitPlans()) {
        const TrainingPlan plan = planOf(row.settings);
        const FitQuestion question = questionOf(plan, row.capacity);
        Time time;
        for (std::int64_t i = 0; i < repeats; ++i) {
            isFine = measure(question, time) && isFine;
        }
        std::string name = row.name;
        std::replace(name.begin(), name.end(), ' ', '_');
        std::erase(name, ',');
        fmt::print("fit_{}_processor {:.1f} ms\nfit_{}_clock {:.1f} ms\n", name, time.processor, name, time.clock);
        longest = {std::max(longest.processor, time.processor), std::max(longest.clock, time.clock)};
    }
    fmt::print("fit_longest_processor {:.1f} ms\nfit_longest_clock {:.1f} ms\n", longest.processor, longest.clock);
    return isFine ? 0 : 1;
}
