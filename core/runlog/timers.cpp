// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/timers.h"

#include <algorithm>

namespace headroom {

std::uint16_t TimerColumns::indexOf(std::string_view name, std::vector<std::string>& names)
{
    constexpr std::size_t mostNames = 1000;
    const auto known = std::ranges::find(names, name);
    const auto index = std::min(static_cast<std::size_t>(known - names.begin()), mostNames);
    if (index == names.size()) {
        names.emplace_back(index == mostNames ? std::string_view("(other)") : name);
    }
    return static_cast<std::uint16_t>(index);
}

std::vector<TimerSummary> summarise(const TimerColumns& timers)
{
    std::vector<std::vector<std::uint32_t>> rowsOfName;
    for (std::size_t row = 0; row < timers.size(); ++row) {
        rowsOfName.resize(std::max<std::size_t>(rowsOfName.size(), timers.name[row] + std::size_t{1}));
        rowsOfName[timers.name[row]].push_back(static_cast<std::uint32_t>(row));
    }
    std::vector<TimerSummary> all;
    for (std::size_t name = 0; name < rowsOfName.size(); ++name) {
        std::vector<std::uint32_t>& rows = rowsOfName[name];
        if (rows.empty()) {
            continue;
        }
        const auto seconds = [&](std::uint32_t row) { return timers.seconds[row]; };
        const auto longest = std::ranges::max_element(rows, {}, seconds);
        TimerSummary timer{static_cast<std::uint16_t>(name), rows.size(), 0, *longest};
        const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
        std::ranges::nth_element(rows, middle, {}, seconds);
        timer.median = seconds(*middle);
        all.push_back(timer);
    }
    return all;
}

} // namespace headroom
