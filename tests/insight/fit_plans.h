// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include <vector>

namespace headroom::test {

/// A plan that does not fit its GPU.
struct FitPlan
{
    const char* name;
    int capacity; ///< GiB
    QByteArray settings;
};

/// Plans of every kind: frameworks, schedules, sharding, experts, adapters, images.
[[nodiscard]] std::vector<FitPlan> fitPlans();

} // namespace headroom::test
