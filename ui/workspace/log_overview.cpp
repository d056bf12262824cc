// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/log_overview.h"

#include "insight/calibrate.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// Of a log that does not say what was allocated.
std::vector<std::size_t> largestReserved(const Run& run)
{
    std::vector<std::size_t> records;
    for (std::size_t i = 0; i < run.reservedBytes.size(); ++i) {
        if (run.reservedBytes[i] != Run::noReserved) {
            records.push_back(i);
        }
    }
    const auto most = std::min(records.size(), LogOverview::topCount);
    std::partial_sort(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(most), records.end(),
                      [&run](std::size_t a, std::size_t b) {
                          return run.reservedBytes[a] != run.reservedBytes[b]
                              ? run.reservedBytes[a] > run.reservedBytes[b]
                              : a < b;
                      });
    records.resize(most);
    return records;
}

} // namespace

LogOverview overviewOf(const Run& run)
{
    LogOverview overview;
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::array<std::size_t, 256> peakOfPhase{};
    peakOfPhase.fill(none);
    for (std::size_t i = 0; i < run.size(); ++i) {
        const std::int64_t allocated = run.allocatedBytes[i];
        if (!run.hasAllocated(i)) {
            continue;
        }
        std::size_t& phasePeak = peakOfPhase[run.phase[i]];
        if (phasePeak == none || allocated > run.allocatedBytes[phasePeak]) {
            phasePeak = i;
        }
        Bytes& rankPeak = overview.peakOfRank[run.rank[i]];
        rankPeak = std::max(rankPeak, Bytes{allocated});
    }
    for (std::size_t phase = 0; phase < run.phaseNames.size() && phase < peakOfPhase.size(); ++phase) {
        if (peakOfPhase[phase] != none) {
            overview.phasePeaks.push_back({static_cast<std::uint8_t>(phase), peakOfPhase[phase]});
        }
    }
    overview.largest = run.largest(LogOverview::topCount);
    if (overview.largest.empty()) {
        overview.largest = largestReserved(run);
    }
    return overview;
}

std::vector<std::optional<Bytes>> measuredPerStage(const LogOverview& log, const TrainingPlan& plan)
{
    const std::int64_t stages = std::max<std::int64_t>(1, plan.parallel.pp.value);
    constexpr std::int64_t maxStages = 4096;
    if (stages > maxStages) {
        return {};
    }
    std::vector<std::optional<Bytes>> measured(static_cast<std::size_t>(stages));
    for (const auto& [rank, peak] : log.peakOfRank) {
        if (rank < 0 && stages > 1) {
            continue;
        }
        const auto stage = stageOfRank(plan, rank);
        if (!stage) {
            return {}; // more ranks than the plan has GPUs: the log is of another run
        }
        auto& value = measured[*stage];
        value = std::max(value.value_or(Bytes{}), peak);
    }
    return measured;
}

} // namespace headroom
