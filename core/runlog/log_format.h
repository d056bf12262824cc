// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"
#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// One record as a line says it. The phase points into the line or the format.
struct LineRecord
{
    std::string_view phase;
    std::optional<std::uint32_t> step; ///< absent: that of a line near, see `nearStep`
    LineFormat::Step nearStep = LineFormat::Step::Before;
    std::int32_t rank = -1; ///< -1: the line does not say
    std::int64_t allocatedBytes = Run::noAllocated;
    std::int64_t reservedBytes = Run::noReserved;
    std::optional<std::int64_t> currentBytes, activeBytes, deviceBytes, freeBytes;
    std::optional<float> activePercent;
    std::optional<float> stepSeconds;
    std::optional<double> elapsedSeconds; ///< since the training began: a step's time is a difference
    std::optional<float> tokensPerSecond;
    std::optional<double> loss;
};

/// How long a part of a step took.
struct LineTimer
{
    std::string_view name;
    std::optional<std::uint32_t> step; ///< as in LineRecord
    LineFormat::Step nearStep = LineFormat::Step::Before;
    std::int32_t rank = -1;
    float seconds = 0;
    std::optional<float> leastSeconds;
    std::int64_t distance = 0; ///< lines behind the one that is read
};

/// Receives what a format found on a line.
class LineSink
{
public:
    virtual void seen(std::size_t format) = 0; ///< index of a format that is on the line
    virtual void record(const LineRecord& record) = 0;
    /// A line about a step without amounts of memory.
    virtual void step(const LineRecord& record) = 0;
    virtual void timer(const LineTimer& timer) = 0;
    virtual void fact(LogFact fact) = 0;
    virtual void problem(Severity severity, Text text) = 0;

protected:
    ~LineSink() = default;
};

/// A line without its end and without colour codes.
struct LogLine
{
    std::string_view text;
    bool cutOff = false; ///< the file ends inside this line: no line end follows
};

/// The base format: the words phase=, step= and peak_alloc= in any order, and optionally rank=, peak_reserved=,
/// step_time=, tokens_per_s= and loss=.
/// True when there was a record.
bool readPlainLine(const LogLine& line, LineSink& sink);
inline constexpr std::string_view plainFormatId = "plain.kv";

/// The rank of a launcher's prefix: "[rank3]:", "[default3]:", "3: ", "[1,3]<stdout>:" or "[rank-3/8]", else -1. A rank
/// larger than a record can hold is -2.
[[nodiscard]] std::int32_t rankOfPrefix(std::string_view line);

} // namespace headroom
