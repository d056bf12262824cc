// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/run_summary.h"

#include <algorithm>
#include <unordered_map>

namespace headroom {

namespace {

/// Values too few to tell a running maximum from chance: three steps of two phases.
constexpr std::size_t fewestRecords = 6;

struct RankTrack
{
    std::int64_t last = 0;
    std::size_t records = 0;
};

void keepLarger(std::optional<std::size_t>& kept, const std::vector<std::int64_t>& values, std::size_t index)
{
    if (!kept || values[index] > values[*kept]) {
        kept = index;
    }
}

} // namespace

std::optional<Phase> RunSummary::peakPhase(const Run& run) const
{
    if (!peak || neverFalls || phasesSeen < 2 || run.phase[*peak] >= phaseCount) {
        return std::nullopt;
    }
    return static_cast<Phase>(run.phase[*peak]);
}

RunSummary summarise(const Run& run)
{
    RunSummary summary;
    if (run.isEmpty()) {
        return summary;
    }
    std::unordered_map<std::int16_t, RankTrack> ranks;
    std::array<bool, 256> seen{};
    bool fell = false;
    std::int64_t stepOfFirstRank = -1;
    summary.firstStep = summary.lastStep = run.step.front();
    for (std::size_t i = 0; i < run.size(); ++i) {
        const std::int64_t step = run.step[i];
        summary.firstStep = std::min(summary.firstStep, step);
        summary.lastStep = std::max(summary.lastStep, step);
        if (run.rank[i] == run.rank.front() && step != stepOfFirstRank) {
            stepOfFirstRank = step;
            ++summary.stepCount;
        }
        seen[run.phase[i]] = true;
        RankTrack& track = ranks[run.rank[i]];
        fell = fell || (track.records > 0 && run.allocatedBytes[i] < track.last);
        track.last = run.allocatedBytes[i];
        ++track.records;
        keepLarger(summary.peak, run.allocatedBytes, i);
        if (run.phase[i] < phaseCount) {
            keepLarger(summary.phasePeaks[run.phase[i]], run.allocatedBytes, i);
        }
        if (!run.reservedBytes.empty() && run.reservedBytes[i] != Run::noReserved) {
            keepLarger(summary.reservedPeak, run.reservedBytes, i);
        }
    }
    summary.phasesSeen = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    summary.rankCount = ranks.contains(-1) && ranks.size() == 1 ? 0 : static_cast<std::int32_t>(ranks.size());
    const bool isLongEnough = std::all_of(ranks.begin(), ranks.end(),
                                          [](const auto& rank) { return rank.second.records >= fewestRecords; });
    // With one phase only, a flat line is what a healthy run looks like.
    summary.neverFalls = !fell && isLongEnough && summary.phasesSeen > 1;
    return summary;
}

} // namespace headroom
