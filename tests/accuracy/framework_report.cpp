// SPDX-License-Identifier: GPL-3.0-or-later
//
// How far the estimates of frameworks other than Megatron-LM are from published runs: one line a case, then a table a
// framework. `framework_report cases.yaml`.
#include "accuracy/framework_cases.h"
#include "footprint/tape_instant.h"
#include "replay/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

using namespace headroom;

namespace {

constexpr double bytesPerGib = 1024.0 * 1024.0 * 1024.0;

double gib(Bytes bytes)
{
    return static_cast<double>(bytes.value) / bytesPerGib;
}

/// What the case's counter shows: live blocks, segments of all pools, or the whole device.
double predicted(const accuracy::FrameworkCase& entry, const StageReplay& replay)
{
    if (entry.metric == "max_allocated" || entry.metric == "max_active") {
        return gib(replay.peakAllocated);
    }
    if (entry.metric == "max_reserved" || entry.framework.starts_with("ms-swift")) {
        return gib(replay.peakReserved);
    }
    return gib(replay.peakReserved) + entry.outsideGib;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: framework_report cases.yaml\n");
        return 2;
    }
    std::map<std::string, std::vector<double>> errors;
    for (const accuracy::FrameworkCase& entry : accuracy::frameworkCases(argv[1])) {
        ModelProgram program;
        std::string missing = entry.missing;
        if (missing.empty()) {
            if (auto built = buildProgram(entry.plan, program); !built) {
                missing = built.error().english();
            }
        }
        if (!missing.empty()) {
            std::printf("%-70s not computed: %s\n", entry.id.c_str(), missing.c_str());
            continue;
        }
        ReplayOptions options;
        options.steps = entry.isFirstStep ? 1 : 2;
        // Near the end of the card the allocator gives back what it has cached.
        if (entry.plan.hardware.capacityBytes.isKnown()) {
            options.allocator.capacity
                = entry.plan.hardware.capacityBytes.value - static_cast<std::int64_t>(entry.outsideGib * bytesPerGib);
        }
        options.mostEvents = 0; // as many micro-batches as differ
        StageReplay replay;
        for (const StageProgram& stage : program.stages) {
            const StageReplay other = replayStage(program, stage, options);
            replay = other.peakAllocated > replay.peakAllocated ? other : replay;
            if (argc > 2) {
                std::printf("  stage %2d: steady %8.3f peak %8.3f reserved %8.3f GiB\n", static_cast<int>(stage.stage),
                            gib(other.steadyAllocated), gib(other.peakAllocated), gib(other.peakReserved));
            }
        }
        if (argc > 2) {
            for (int k = 0; k < tensorKindCount; ++k) {
                const Bytes b = replay.peakTensors[static_cast<std::size_t>(k)];
                if (gib(b) > 0.05) {
                    std::printf("    %-24s %7.3f\n", std::string(nameOf(static_cast<TensorKind>(k))).c_str(), gib(b));
                }
            }
        }
        const double value = predicted(entry, replay);
        const double error = value / entry.measuredGib - 1;
        errors[entry.framework].push_back(error);
        std::printf("%-70s %-16s measured %7.2f predicted %7.2f (allocated %7.2f) %+6.1f %% %s\n", entry.id.c_str(),
                    entry.metric.c_str(), entry.measuredGib, value, gib(replay.peakAllocated), 100 * error,
                    std::string(nameOf(replay.peakPhase)).c_str());
    }
    std::printf("\n%-50s %5s %8s %8s\n", "framework", "count", "median", "worst");
    for (auto& [framework, list] : errors) {
        std::sort(list.begin(), list.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
        std::printf("%-50s %5zu %7.1f%% %7.1f%%\n", framework.c_str(), list.size(),
                    100 * std::abs(list[list.size() / 2]), 100 * std::abs(list.back()));
    }
    return 0;
}
