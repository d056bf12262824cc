// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/comparison.h"
#include "accuracy/framework_cases.h"
#include "footprint/outlook/outside.h"
#include "plan/layer_pattern.h"

#include <algorithm>

namespace headroom::accuracy {

namespace {

constexpr double bytesPerGib = 1024.0 * 1024.0 * 1024.0;

std::string kindOf(const FrameworkCase& entry)
{
    const TrainingPlan& plan = entry.plan;
    return entry.isLossAlone           ? "loss alone"
        : isHybrid(plan)               ? "hybrid"
        : plan.vision.layers.value > 0 ? "multimodal"
        : plan.moe.experts.value > 0   ? "experts"
        : entry.kind == "qlora"        ? "4-bit adapters"
        : plan.lora.rank.value > 0     ? "adapters"
        : plan.parallel.pp.value > 1   ? "pipeline"
                                       : "dense";
}

void countGolden(const FrameworkCase& entry, Report& report)
{
    const auto [first, last] = report.goldenPeaks.equal_range(entry.goldenCase);
    const bool isThere
        = std::any_of(first, last, [&entry](const auto& run) { return run.second == entry.goldenBytes; });
    if (isThere) {
        ++report.countedThere;
    } else {
        report.notComputed["this run in megatron_ci.json"].push_back(entry.id);
    }
}

void compareRun(const FrameworkCase& entry, Report& report)
{
    ModelProgram program;
    std::string missing = entry.missing;
    if (missing.empty()) {
        if (const auto built = buildProgram(entry.plan, program); !built) {
            missing = built.error().english();
        }
    }
    if (!missing.empty()) {
        report.notComputed[missing].push_back(entry.id);
        return;
    }
    const StageReplay replay = fullestStage(entry, program).replay;
    if (entry.endedOutOfMemory) {
        ++report.ranOut;
        if (!replay.isOutOfMemory) {
            report.estimatedToFit.push_back(entry.id);
        }
        return;
    }
    const double predicted = predictedGib(entry, replay);
    report.comparisons.push_back({entry.id, entry.framework, kindOf(entry), 0, predicted / entry.measuredGib - 1,
                                  largestTensors(replay),
                                  closestTensors(replay, (predicted - entry.measuredGib) * bytesPerGib), entry.doubt});
}

} // namespace

/// Context and communicators, part of what nvidia-smi shows.
static Bytes outsideOf(const FrameworkCase& entry)
{
    return outsideMemory(entry.plan, splitOf(entry.plan)).central();
}

static bool isAllocated(const FrameworkCase& entry)
{
    return entry.metric == "max_allocated" || entry.metric == "max_active" || entry.isLossAlone || entry.isResident;
}

double predictedGib(const FrameworkCase& entry, const StageReplay& replay)
{
    if (entry.isResident) {
        return replay.steadyAllocated.gib();
    }
    if (entry.isLossAlone) {
        return replay.peakAllocated.gib() - replay.steadyAllocated.gib();
    }
    if (isAllocated(entry)) {
        return replay.peakAllocated.gib();
    }
    // ms-swift's annotations are reserved bytes too (swift/utils/torch_utils.py).
    const bool isReserved = entry.metric == "max_reserved" || entry.framework.starts_with("ms-swift");
    return replay.peakReserved.gib() + (isReserved ? 0 : outsideOf(entry).gib());
}

FullestStage fullestStage(const FrameworkCase& entry, const ModelProgram& program)
{
    ReplayOptions options;
    options.steps = entry.isFirstStep ? 1 : 2;
    options.mostEvents = 0; // as many micro-batches as differ
    // Near the end of the card the allocator gives back what it has cached.
    if (const Count& capacity = entry.plan.hardware.capacityBytes; capacity.isKnown()) {
        options.allocator.capacity = capacity.value - outsideOf(entry).value;
    }
    const auto figure = [&entry](const StageReplay& replay) {
        return isAllocated(entry) ? replay.peakAllocated : replay.peakReserved;
    };
    FullestStage fullest;
    for (std::size_t i = entry.isLastStage ? program.stages.size() - 1 : 0; i < program.stages.size(); ++i) {
        StageReplay other = replayStage(program, program.stages[i], options);
        if (other.isOutOfMemory > fullest.replay.isOutOfMemory
            || (other.isOutOfMemory == fullest.replay.isOutOfMemory && figure(other) > figure(fullest.replay))) {
            fullest = {i, std::move(other)};
        }
    }
    return fullest;
}

void addFrameworkRuns(const std::filesystem::path& folder, Report& report)
{
    for (const FrameworkCase& entry : frameworkCases((folder / "cases.yaml").string())) {
        if (entry.goldenCase.empty()) {
            compareRun(entry, report);
        } else {
            countGolden(entry, report);
        }
    }
}

} // namespace headroom::accuracy
