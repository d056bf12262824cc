// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/compare.h"

#include "insight/plan_edits.h"
#include "plan/batch.h"

#include <algorithm>

namespace headroom {

namespace {

/// Median without the first tenth, and without at least the first two values: kernels are chosen, caches filled.
std::optional<double> steadyMedian(const std::vector<float>& values)
{
    const std::size_t warmUp = std::min(std::max<std::size_t>(2, values.size() / 10), values.size() / 2);
    std::vector<float> steady(values.begin() + static_cast<std::ptrdiff_t>(warmUp), values.end());
    if (steady.empty()) {
        return std::nullopt;
    }
    const auto middle = steady.begin() + static_cast<std::ptrdiff_t>(steady.size() / 2);
    std::nth_element(steady.begin(), middle, steady.end());
    return *middle;
}

std::optional<Bytes> bytesOf(const std::vector<std::int64_t>& column, std::optional<std::size_t> record)
{
    return record ? std::optional(Bytes{column[*record]}) : std::nullopt;
}

/// Fields that are one decision, by the start of their keys.
std::string_view variableOf(std::string_view key)
{
    for (const std::string_view group : {"recompute.", "precision.", "optimizer.", "attention.", "lora.", "frozen.",
                                         "vision.", "projector.", "mla.", "hardware.", "shard."}) {
        if (key.starts_with(group)) {
            return group.substr(0, group.size() - 1);
        }
    }
    if (key.starts_with("model.") || (key.starts_with("moe.") && key != "moe.load")) {
        return "model";
    }
    return key;
}

bool isPlanChange(const FieldDifference& difference)
{
    // A name may be stated or not, and a capacity does not change the run; an assumption about routing is no setting.
    return difference.key != "model.name" && difference.key != "hardware.capacity_bytes" && difference.key != "moe.load"
        && difference.key != "framework";
}

bool follows(std::string_view key, bool sameGpus, bool sameBatch, bool splitChanged, bool microChanged)
{
    const bool isData = key == "parallel.dp" || key == "parallel.dp_shard" || key == "parallel.dp_replicate";
    if (isData || key == "parallel.world") {
        return splitChanged && (sameGpus || isData);
    }
    if (key == "batch.accum") {
        return sameBatch && (splitChanged || microChanged);
    }
    return key == "batch.tokens_per_step" || key == "batch.tokens_per_microbatch";
}

/// The tower's recomputation has a switch of its own.
bool isOfLayersRecompute(std::string_view key)
{
    return key.starts_with("recompute.") && key != "recompute.vision";
}

} // namespace

RunFigures RunFigures::of(const Run& run, const RunSummary& summary)
{
    RunFigures figures;
    figures.name = run.files.empty() ? std::string{} : run.files.front();
    figures.allocated = bytesOf(run.allocatedBytes, summary.peak);
    figures.reserved = bytesOf(run.reservedBytes, summary.reservedPeak);
    if (const auto& taken = run.deviceBytes.values; !taken.empty()) {
        figures.device = Bytes{*std::max_element(taken.begin(), taken.end())};
    }
    figures.peakPhase = summary.peakPhase(run);
    for (std::size_t phase = 0; phase < figures.phases.size(); ++phase) {
        figures.phases[phase] = bytesOf(run.allocatedBytes, summary.phasePeaks[phase]);
    }
    figures.stepSeconds = steadyMedian(run.allStepSeconds());
    figures.tokensPerSecond = steadyMedian(run.allTokensPerSecond());
    figures.ranks = run.ranks();
    return figures;
}

RunFigures RunFigures::of(const Footprint& footprint, std::string name)
{
    RunFigures figures;
    figures.name = std::move(name);
    figures.isEstimate = true;
    const StageFootprint& fullest = footprint.fullest();
    figures.allocated = fullest.peakAllocated;
    if (footprint.engine == Engine::Replay) {
        figures.reserved = fullest.peakReserved; // the others have no allocator
    }
    figures.device = fullest.device;
    for (std::size_t phase = 0; phase < figures.phases.size(); ++phase) {
        figures.phases[phase] = fullest.phases[phase];
    }
    figures.peakPhase = fullest.peakPhase;
    return figures;
}

std::vector<ChangedVariable> changedVariables(const TrainingPlan& before, const TrainingPlan& after)
{
    std::vector<FieldDifference> all = difference(before, after);
    // What both write about recomputation and neither does sets nothing apart.
    const bool recomputesNothing
        = effectiveGranularity(before) == Granularity::None && effectiveGranularity(after) == Granularity::None;
    std::erase_if(all, [recomputesNothing](const FieldDifference& one) {
        return !isPlanChange(one) || (recomputesNothing && isOfLayersRecompute(one.key));
    });
    const auto changes = [&all](std::string_view key) {
        return std::any_of(all.begin(), all.end(), [key](const FieldDifference& one) { return one.key == key; });
    };
    const bool sameGpus = worldSize(before) == worldSize(after);
    const bool sameBatch = batchEquation(before).global == batchEquation(after).global;
    const bool splitChanged = changes("parallel.pp") || changes("parallel.tp") || changes("parallel.cp");
    const bool dataChanged = splitChanged || changes("parallel.dp") || changes("parallel.world");
    const bool microChanged = changes("batch.micro");
    std::vector<ChangedVariable> variables;
    for (FieldDifference& one : all) {
        if (follows(one.key, sameGpus, sameBatch, one.key == "batch.accum" ? dataChanged : splitChanged,
                    microChanged)) {
            continue;
        }
        const std::string id(variableOf(one.key));
        auto found = std::find_if(variables.begin(), variables.end(),
                                  [&id](const ChangedVariable& variable) { return variable.id == id; });
        if (found == variables.end()) {
            found = variables.insert(found, ChangedVariable{id, {}});
        }
        found->differences.push_back(std::move(one));
    }
    return variables;
}

} // namespace headroom
