// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_format.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace headroom {
namespace {

constexpr std::int32_t largestRank = std::numeric_limits<std::int16_t>::max();

struct Digits
{
    std::int32_t value = 0;
    std::size_t end = 0;
};

std::optional<Digits> digitsAt(std::string_view line, std::size_t at)
{
    Digits digits{0, at};
    for (; digits.end < line.size() && line[digits.end] >= '0' && line[digits.end] <= '9'; ++digits.end) {
        digits.value = std::min<std::int32_t>(digits.value * 10 + (line[digits.end] - '0'), 100000);
    }
    return digits.end == at ? std::nullopt : std::optional(digits);
}

/// The number between `open` at the line's begin and `close`.
std::optional<std::int32_t> between(std::string_view line, std::string_view open, std::string_view close)
{
    if (!line.starts_with(open)) {
        return std::nullopt;
    }
    const std::optional<Digits> digits = digitsAt(line, open.size());
    return digits && line.substr(digits->end).starts_with(close) ? std::optional(digits->value) : std::nullopt;
}

/// mpirun's [job,rank]<stdout>:
std::optional<std::int32_t> rankOfMpi(std::string_view line)
{
    const std::optional<Digits> job = line.starts_with('[') ? digitsAt(line, 1) : std::nullopt;
    if (!job || !line.substr(job->end).starts_with(',')) {
        return std::nullopt;
    }
    const std::optional<Digits> rank = digitsAt(line, job->end + 1);
    return rank && line.substr(rank->end).starts_with("]<std") ? std::optional(rank->value) : std::nullopt;
}

} // namespace

std::int32_t rankOfPrefix(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    for (const std::string_view open : {std::string_view("[rank"), std::string_view("[default"),
                                        std::string_view("[trainer"), std::string_view("[worker")}) {
        if (const auto rank = between(line, open, "]:")) {
            return *rank > largestRank ? -2 : *rank;
        }
    }
    if (const auto rank = rankOfMpi(line)) {
        return *rank > largestRank ? -2 : *rank;
    }
    constexpr std::size_t furthest = 40; // behind a time in brackets
    for (std::size_t at = 0; (at = line.substr(0, furthest).find("[rank-", at)) != std::string_view::npos; ++at) {
        if (const auto rank = between(line.substr(at), "[rank-", "/")) {
            return *rank > largestRank ? -2 : *rank;
        }
    }
    // Without the blank "3:" is a line number of grep -n.
    const auto task = between(line, "", ": ");
    return task && *task <= largestRank ? *task : -1;
}

} // namespace headroom
