// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"
#include "workspace/view_state.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// The largest value per rank (rows) and phase or group of steps (columns), as the record it is from.
struct PeakGrid
{
    static constexpr std::int64_t none = -1;

    std::vector<std::int32_t> ranks; ///< ascending; -1 stands first, for records that name no rank
    std::vector<std::uint8_t> phases; ///< the columns when they are phases; those that occur in the run
    StepRange steps; ///< covered; the columns divide it when they are groups of steps
    std::size_t columns = 0;
    std::vector<std::int64_t> records; ///< row by row; none: no such record

    [[nodiscard]] std::int64_t at(std::size_t row, std::size_t column) const { return records[row * columns + column]; }
    /// The record of the largest of a row by `bytes`, the column of the run the grid was made from.
    [[nodiscard]] std::int64_t peakOfRow(std::size_t row, const std::vector<std::int64_t>& bytes) const;
};

struct GridOptions
{
    StepRange steps{0, 4294967295.0}; ///< records of other steps are left out
    std::size_t stepGroups = 0; ///< 0: columns are phases
    bool isReserved = false; ///< else allocated
};

/// One pass over the run. Pure: may run on any thread.
[[nodiscard]] PeakGrid makePeakGrid(const Run& run, const GridOptions& options = {});

} // namespace headroom
