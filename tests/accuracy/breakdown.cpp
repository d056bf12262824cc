// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace headroom::accuracy {

namespace {

std::string_view phaseName(Phase phase)
{
    return phase == Phase::Forward ? "forward" : phase == Phase::Backward ? "backward" : "optimizer";
}

void printBreakdown(const FrameworkCase& entry, const FullestStage& fullest)
{
    const StageReplay& replay = fullest.replay;
    const double predicted = predictedGib(entry, replay);
    const bool hasFigure = entry.measuredGib > 0;
    fmt::print("{} ({}): {}, predicted {:.3f}{}\n", entry.id, entry.framework,
               hasFigure ? fmt::format("measured {:.3f} ({})", entry.measuredGib, entry.metric) : "ran out of memory",
               predicted,
               hasFigure                  ? fmt::format(", {:+.2f} %", 100 * (predicted / entry.measuredGib - 1))
                   : replay.isOutOfMemory ? " before running out as well"
                                          : "");
    fmt::print("  stage {}, {}: allocated {:.3f}, reserved {:.3f}, resident {:.3f}", fullest.index,
               phaseName(replay.peakPhase), replay.peakAllocated.gib(), replay.peakReserved.gib(),
               replay.steadyAllocated.gib());
    for (int i = 0; i < phaseCount; ++i) {
        fmt::print(", {} {:.3f}", phaseName(static_cast<Phase>(i)), replay.phases[static_cast<std::size_t>(i)].gib());
    }
    fmt::print("\n");
    std::vector<std::pair<Bytes, TensorKind>> alive;
    for (int i = 0; i < tensorKindCount; ++i) {
        alive.emplace_back(replay.peakTensors[static_cast<std::size_t>(i)], static_cast<TensorKind>(i));
    }
    std::sort(alive.rbegin(), alive.rend());
    for (const auto& [bytes, kind] : alive) {
        if (bytes.gib() >= 0.0005) {
            fmt::print("    {:>8.3f}  {}\n", bytes.gib(), nameOf(kind));
        }
    }
}

} // namespace

void printBreakdown(const Comparison& row)
{
    const StageReplay& replay = row.replay;
    const auto line = [](std::string_view name, std::int64_t peak, std::int64_t resident) {
        if (peak != 0 || resident != 0) {
            fmt::print("    {:>14} {:>14}  {}\n", peak, resident, name);
        }
    };
    fmt::print("  peak and resident bytes, the peak {}\n", phaseName(replay.peakPhase));
    for (std::size_t i = 0; i < tensorKindCount; ++i) {
        line(nameOf(static_cast<TensorKind>(i)), replay.peakTensors[i].value, replay.steadyTensors[i].value);
    }
    line("rounding", replay.peakRounding.value, replay.steadyRounding.value);
    line("predicted", replay.peakAllocated.value, replay.steadyAllocated.value);
    line("measured", row.measuredPeak, row.measuredResident);
    line("measured less", row.measuredPeak - replay.peakAllocated.value,
         row.measuredResident - replay.steadyAllocated.value);
}

int printBreakdowns(const std::filesystem::path& folder, std::string_view word)
{
    int printed = 0;
    for (const FrameworkCase& entry : frameworkCases((folder / "cases.yaml").string())) {
        ModelProgram program;
        if (entry.id.find(word) == std::string::npos) {
            continue;
        }
        ++printed;
        if (!entry.missing.empty()) {
            fmt::print("{}: not computed, {}\n", entry.id, entry.missing);
        } else if (const auto built = buildProgram(entry.plan, program); !built) {
            fmt::print("{}: not computed, {}\n", entry.id, built.error().english());
        } else {
            printBreakdown(entry, fullestStage(entry, program));
        }
    }
    return printed;
}

} // namespace headroom::accuracy
