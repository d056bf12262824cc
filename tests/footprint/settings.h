// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/plans.h"

#include <string>
#include <utility>
#include <vector>

namespace headroom::test {

/// Keys and values that a test puts together while it runs.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A plan with some settings more.
inline TrainingPlan with(TrainingPlan plan, const Settings& settings)
{
    for (const auto& [key, text] : settings) {
        plan = planOf({{key, text}}, std::move(plan));
    }
    return plan;
}

/// For the messages of tests that fail.
inline std::string written(const Settings& settings)
{
    std::string all;
    for (const auto& [key, text] : settings) {
        all += key + "=" + text + " ";
    }
    return all;
}

} // namespace headroom::test
