// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/calibrate.h"

#include "insight/rule.h"

#include <map>

namespace headroom {

namespace {

bool saysSchedule(const TrainingPlan& plan)
{
    // A framework's own default counts; a hand-written config says nothing.
    const bool hasFramework = plan.framework.isKnown() && plan.framework.value != "base-yaml";
    return hasFramework || plan.parallel.schedule.isStated() || plan.parallel.vpp.value > 1;
}

using Key = std::pair<std::size_t, int>; ///< stage, phase; -1: of the whole step

/// The record of the largest allocated value of each stage and phase.
Result<std::map<Key, std::size_t>> peaksOf(const Run& run, const RunSummary& summary, const TrainingPlan& plan)
{
    // Running maxima belong to no phase.
    const bool hasPhases = summary.phasesSeen > 1 && !summary.neverFalls;
    std::map<Key, std::size_t> peaks;
    for (const auto& [rank, phase, record] : summary.rankPeaks) {
        if (run.allocatedBytes[record] <= 0) {
            continue;
        }
        const auto stage = stageOfRank(plan, rank);
        if (!stage) {
            return failure(rank < 0 ? Text{HEADROOM_TR("core",
                                                       "the log does not say which rank a line is of, so a peak "
                                                       "cannot be assigned to one of %1 pipeline stages"),
                                           {std::to_string(plan.parallel.pp.value)}}
                                    : Text{HEADROOM_TR("core", "rank %1 of the log is none of the plan's GPUs"),
                                           {std::to_string(rank)}},
                           run.files.empty() ? std::string{} : run.files.front(), run.line[record]);
        }
        const bool isPhase = hasPhases && phase < phaseCount;
        if (hasPhases && !isPhase) {
            continue;
        }
        const auto [place, isNew] = peaks.try_emplace({*stage, isPhase ? phase : -1}, record);
        if (!isNew && run.allocatedBytes[record] > run.allocatedBytes[place->second]) {
            place->second = record;
        }
    }
    return peaks;
}

} // namespace

Result<std::vector<CalibrationPoint>> calibrationPoints(const Run& run, const RunSummary& summary,
                                                        const TrainingPlan& plan)
{
    const std::string file = run.files.empty() ? std::string{} : run.files.front();
    const bool hasStages = plan.parallel.pp.value > 1;
    if (hasStages && !saysSchedule(plan)) {
        return failure(Text{HEADROOM_TR("core",
                                        "with several pipeline stages the schedule decides how much is in flight, "
                                        "and nobody stated it: set parallel.schedule")},
                       file, 0);
    }
    const auto peaks = peaksOf(run, summary, plan);
    if (!peaks) {
        return tl::unexpected(peaks.error());
    }
    if (peaks->empty()) {
        return failure(Text{HEADROOM_TR("core",
                                        "the log has no allocated bytes; reserved ones also hold what is free in "
                                        "the pool, so activations cannot be told from them")},
                       file, 0);
    }
    const auto lastStage = static_cast<std::size_t>(plan.parallel.pp.value - 1);
    if (hasStages && peaks->begin()->first.first == lastStage) {
        return failure(Text{HEADROOM_TR("core",
                                        "the log shows only the last pipeline stage, whose peak is made by the "
                                        "logits and one micro-batch in flight")},
                       file, 0);
    }
    std::vector<CalibrationPoint> points;
    for (const auto& [key, record] : *peaks) {
        points.push_back({plan, key.first,
                          key.second < 0 ? std::nullopt : std::optional(static_cast<Phase>(key.second)),
                          Bytes{run.allocatedBytes[record]}, evidenceOf(run, record)});
    }
    return points;
}

} // namespace headroom
