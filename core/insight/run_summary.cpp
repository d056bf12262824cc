// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/run_summary.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace headroom {

namespace {

/// Values too few to tell a running maximum from chance: three steps of two phases.
constexpr std::size_t fewestRecords = 6;

struct RankTrack
{
    std::int64_t last = 0;
    std::size_t records = 0;
    std::vector<std::size_t> peaks; ///< by phase: place in RunSummary::rankPeaks, one up; 0: none
};

void keepRankPeak(RankTrack& track, const Run& run, std::size_t record, std::vector<RankPhasePeak>& peaks)
{
    const std::uint8_t phase = run.phase[record];
    if (track.peaks.size() <= phase) {
        track.peaks.resize(phase + std::size_t{1});
    }
    std::size_t& place = track.peaks[phase];
    if (place == 0) {
        peaks.push_back({run.rank[record], phase, record});
        place = peaks.size();
    } else if (run.allocatedBytes[record] > run.allocatedBytes[peaks[place - 1].record]) {
        peaks[place - 1].record = record;
    }
}

/// Steps in file order; a step that comes again, after a restart, is one of its own.
StepPeaks stepPeaksOf(const Run& run, std::int16_t rank)
{
    StepPeaks result;
    std::vector<double> peaks;
    std::vector<double> steps;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (run.rank[i] != rank || !run.hasAllocated(i)) {
            continue;
        }
        const auto value = static_cast<double>(run.allocatedBytes[i]);
        if (peaks.empty() || run.step[i] != last) {
            last = run.step[i];
            steps.push_back(static_cast<double>(last));
            peaks.push_back(value);
        } else {
            peaks.back() = std::max(peaks.back(), value);
        }
        if (run.allocatedBytes[i] > run.allocatedBytes[result.largest] || run.rank[result.largest] != rank) {
            result.largest = i;
        }
    }
    result.steps = peaks.size();
    result.first = static_cast<std::int64_t>(peaks.front());
    std::vector<double> sorted = peaks;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    result.typical = static_cast<std::int64_t>(*middle);
    result.farAbove = static_cast<std::size_t>(
        std::count_if(peaks.begin(), peaks.end(), [&](double peak) { return peak > 1.1 * *middle; }));

    const std::size_t warmUp = std::min<std::size_t>(2, peaks.size());
    const auto n = static_cast<double>(peaks.size() - warmUp);
    double meanStep = 0;
    double meanPeak = 0;
    for (std::size_t i = warmUp; i < peaks.size(); ++i) {
        meanStep += steps[i] / n;
        meanPeak += peaks[i] / n;
    }
    double xx = 0;
    double xy = 0;
    double yy = 0;
    for (std::size_t i = warmUp; i < peaks.size(); ++i) {
        xx += (steps[i] - meanStep) * (steps[i] - meanStep);
        xy += (steps[i] - meanStep) * (peaks[i] - meanPeak);
        yy += (peaks[i] - meanPeak) * (peaks[i] - meanPeak);
    }
    if (xx > 0 && yy > 0) {
        result.bytesPerStep = xy / xx;
        result.correlation = xy / std::sqrt(xx * yy);
    }
    return result;
}

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
        if (run.hasAllocated(i)) {
            fell = fell || (track.records > 0 && run.allocatedBytes[i] < track.last);
            track.last = run.allocatedBytes[i];
            ++track.records;
            keepRankPeak(track, run, i, summary.rankPeaks);
            keepLarger(summary.peak, run.allocatedBytes, i);
            if (run.phase[i] < phaseCount) {
                keepLarger(summary.phasePeaks[run.phase[i]], run.allocatedBytes, i);
            }
        }
        if (!run.reservedBytes.empty() && run.reservedBytes[i] != Run::noReserved) {
            keepLarger(summary.reservedPeak, run.reservedBytes, i);
        }
    }
    if (summary.peak) {
        summary.stepPeaks = stepPeaksOf(run, run.rank[*summary.peak]);
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
