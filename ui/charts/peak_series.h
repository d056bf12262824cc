// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"
#include "workspace/channel.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A value per step, ascending and without repetition: the largest of the records that share the step.
struct StepLine
{
    std::vector<std::uint32_t> steps;
    std::vector<std::int64_t> bytes;
    std::vector<std::uint32_t> records; ///< index into the Run of the record the value is from

    [[nodiscard]] std::size_t size() const { return steps.size(); }
    [[nodiscard]] bool isEmpty() const { return steps.empty(); }
    /// The last point at or before `step`: memory holds its value until the next record.
    [[nodiscard]] std::optional<std::size_t> holdLast(std::int64_t step) const;
    /// Index of the largest value, the earliest of equals; empty: none.
    [[nodiscard]] std::optional<std::size_t> peak() const;
};

struct PhaseLine
{
    std::uint8_t phase = 0; ///< index into Run::phaseNames
    std::string name;
    StepLine line;
};

/// A line the user added to the ones that are there at first.
struct ChannelLine
{
    Channel channel;
    std::optional<std::uint8_t> phase; ///< index into Run::phaseNames; none: over phases
    StepLine line;
};

enum class Metric : std::uint8_t { StepTime, TokensPerSecond, Loss, Timer };

/// What a log says of its steps besides memory; of several records of a step the last that says it.
struct MetricLine
{
    Metric metric = Metric::StepTime;
    std::vector<std::uint32_t> steps; ///< ascending
    std::vector<double> values; ///< finite; seconds, tokens per second, or as the log has it
    Channel timer; ///< of a timer: which

    [[nodiscard]] std::optional<std::size_t> holdLast(std::int64_t step) const;
};

/// What the peaks chart draws.
struct PeakSeries
{
    std::vector<PhaseLine> phases; ///< those that occur, in the order of Run::phaseNames
    StepLine reserved; ///< largest over phases
    StepLine overall; ///< largest allocated over phases; of a log without any, `reserved`
    std::vector<ChannelLine> added; ///< of the channels asked for, those that occur
    std::vector<MetricLine> metrics; ///< those that occur
    std::vector<MetricLine> timers; ///< of the channels asked for, those that occur; the slowest rank of each step
    std::vector<std::int32_t> ranks; ///< all ranks of the run, whichever was asked for
    std::optional<int> rank;

    [[nodiscard]] bool isEmpty() const { return overall.isEmpty(); }
    /// Nothing says what was allocated.
    [[nodiscard]] bool isReservedOnly() const { return !isEmpty() && phases.empty(); }
    [[nodiscard]] std::int64_t firstStep() const { return isEmpty() ? 0 : overall.steps.front(); }
    [[nodiscard]] std::int64_t lastStep() const { return isEmpty() ? 0 : overall.steps.back(); }
};

/// Gathers a Run per phase and step: the maximum over ranks, or one rank's values, and the lines of `added`. Linear for
/// records in step order, sorting otherwise. Pure: may run on any thread.
[[nodiscard]] PeakSeries makePeakSeries(const Run& run, std::optional<int> rank = {},
                                        const std::vector<Channel>& added = {});
/// Of all ranks, or of one where it tells.
[[nodiscard]] std::vector<MetricLine> makeMetricLines(const Run& run, std::optional<int> rank = {});
/// Of the timers among the channels: the largest of each step, over ranks, of `rank` where it has times of its own, or
/// of the channel's.
[[nodiscard]] std::vector<MetricLine> makeTimerLines(const Run& run, std::optional<int> rank,
                                                     const std::vector<Channel>& channels);

/// The points of `line` that keep its shape in `bins` columns: the least and the largest value of each column, so that
/// a spike of one sample stays.
[[nodiscard]] StepLine reduced(const StepLine& line, std::size_t bins);

} // namespace headroom
