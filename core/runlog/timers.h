// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// How long parts of a step took: Megatron's and DeepSpeed's timers. 22 bytes a row.
struct TimerColumns
{
    std::vector<std::uint32_t> step, line;
    std::vector<std::uint16_t> name; ///< index into Run::timerNames
    std::vector<std::int16_t> rank; ///< -1: the log does not say, or it is of all ranks
    std::vector<float> seconds; ///< of the slowest rank where the line is of several
    std::vector<float> leastSeconds; ///< of the fastest; NaN where the line says one time only

    [[nodiscard]] std::size_t size() const { return step.size(); }
    /// The index of a name, which is added where it is new; names beyond the first thousand are one, "(other)".
    [[nodiscard]] static std::uint16_t indexOf(std::string_view name, std::vector<std::string>& names);
};

/// One timer over the whole log.
struct TimerSummary
{
    std::uint16_t name = 0;
    std::size_t rows = 0;
    float median = 0; ///< seconds
    std::size_t longest = 0; ///< row
};

/// Of every timer that has rows, in the order of their names.
[[nodiscard]] std::vector<TimerSummary> summarise(const TimerColumns& timers);

} // namespace headroom
