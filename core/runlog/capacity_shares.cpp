// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/capacity_shares.h"

#include "runlog/log_arguments.h"

#include <algorithm>
#include <cmath>

namespace headroom {

void resolveShares(Run& run)
{
    if (run.freeBytes.records.empty() && run.activePercent.records.empty()) {
        return;
    }
    const std::optional<Bytes> capacity = capacityOf(run);
    if (!capacity) {
        run.inferences.emplace_back(HEADROOM_TR("core",
                                                "The log gives amounts as shares of the device or as what was left "
                                                "free, and does not say how large the device is"));
        return;
    }
    for (std::size_t i = 0; i < run.freeBytes.records.size(); ++i) {
        const std::int64_t used = capacity->value - run.freeBytes.values[i];
        run.allocatedBytes[run.freeBytes.records[i]] = std::max<std::int64_t>(used, 0);
    }
    // A line has either its active bytes or their share, so records stay in order only when sorted anew.
    if (run.activeBytes.records.empty()) {
        for (std::size_t i = 0; i < run.activePercent.records.size(); ++i) {
            const double share = static_cast<double>(run.activePercent.values[i]) / 100;
            run.activeBytes.records.push_back(run.activePercent.records[i]);
            run.activeBytes.values.push_back(std::llround(share * static_cast<double>(capacity->value)));
        }
    }
}

} // namespace headroom
