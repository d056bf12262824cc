// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <tuple>

namespace headroom {

/// One line of the peaks chart, or of the times below it. By name, so that what was chosen stays chosen when a log is
/// read again.
struct Channel
{
    static constexpr int overRanks = -1; ///< the largest of all ranks, or of the chosen one

    std::string phase; ///< empty: the largest of all phases; of a timer its name
    int rank = overRanks;
    bool isReserved = false; ///< else allocated
    bool isTimer = false; ///< no memory but how long a part of the step took

    /// Shown unless the user says otherwise: allocated per phase and reserved over phases, all over ranks.
    [[nodiscard]] bool isShownAtFirst() const { return rank == overRanks && phase.empty() == isReserved && !isTimer; }

    friend bool operator==(const Channel&, const Channel&) = default;
    friend bool operator<(const Channel& a, const Channel& b)
    {
        return std::tie(a.rank, a.phase, a.isReserved, a.isTimer) < std::tie(b.rank, b.phase, b.isReserved, b.isTimer);
    }
};

} // namespace headroom
