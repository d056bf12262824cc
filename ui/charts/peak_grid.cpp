// SPDX-License-Identifier: GPL-3.0-or-later
#include "charts/peak_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {

namespace {

constexpr std::size_t rankValues = std::size_t{1} << 16; // of an int16, shifted to begin at zero

std::size_t shifted(std::int16_t rank)
{
    return static_cast<std::size_t>(rank - std::numeric_limits<std::int16_t>::min());
}

} // namespace

PeakGrid makePeakGrid(const Run& run, const GridOptions& options)
{
    const std::vector<std::int64_t>& bytes = options.isReserved ? run.reservedBytes : run.allocatedBytes;
    PeakGrid grid;
    grid.steps = options.steps;
    std::vector<bool> hasRank(rankValues);
    std::array<bool, 256> hasPhase{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] >= 0) {
            hasRank[shifted(run.rank[i])] = true;
            hasPhase[run.phase[i]] = true;
        }
    }
    std::vector<std::size_t> rowOf(rankValues);
    for (std::size_t i = 0; i < rankValues; ++i) {
        rowOf[i] = grid.ranks.size();
        if (hasRank[i])
            grid.ranks.push_back(static_cast<std::int32_t>(i) + std::numeric_limits<std::int16_t>::min());
    }
    std::array<std::size_t, 256> columnOf{};
    for (std::size_t phase = 0; phase < hasPhase.size(); ++phase) {
        columnOf[phase] = grid.phases.size();
        if (hasPhase[phase])
            grid.phases.push_back(static_cast<std::uint8_t>(phase));
    }
    const bool isByPhase = options.stepGroups == 0;
    grid.columns = isByPhase ? grid.phases.size() : options.stepGroups;
    grid.records.assign(grid.ranks.size() * grid.columns, PeakGrid::none);
    const double perStep = static_cast<double>(options.stepGroups) / std::max(options.steps.span(), 1e-9);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const double step = run.step[i];
        if (bytes[i] < 0 || step < options.steps.first || step > options.steps.last)
            continue;
        const std::size_t column = isByPhase
            ? columnOf[run.phase[i]]
            : std::min(static_cast<std::size_t>((step - options.steps.first) * perStep), options.stepGroups - 1);
        std::int64_t& cell = grid.records[rowOf[shifted(run.rank[i])] * grid.columns + column];
        if (cell == PeakGrid::none || bytes[i] > bytes[static_cast<std::size_t>(cell)])
            cell = static_cast<std::int64_t>(i);
    }
    return grid;
}

std::int64_t PeakGrid::peakOfRow(std::size_t row, const std::vector<std::int64_t>& bytes) const
{
    std::int64_t best = none;
    for (std::size_t column = 0; column < columns; ++column) {
        const std::int64_t record = at(row, column);
        if (record != none
            && (best == none || bytes[static_cast<std::size_t>(record)] > bytes[static_cast<std::size_t>(best)]))
            best = record;
    }
    return best;
}

} // namespace headroom
