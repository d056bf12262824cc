// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/run.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// One record as a line says it. The phase points into the line.
struct LineRecord
{
    std::string_view phase;
    std::uint32_t step = 0;
    std::int32_t rank = -1; ///< -1: the line does not say
    std::int64_t allocatedBytes = 0;
    std::int64_t reservedBytes = Run::noReserved;
    std::optional<float> stepSeconds;
    std::optional<float> tokensPerSecond;
    std::optional<double> loss;
};

/// Receives what a format found on a line.
class LineSink
{
public:
    virtual void record(const LineRecord& record) = 0;
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

/// A kind of log line. The scanner looks for the anchor, a literal every record line contains, and hands the lines
/// that have it to `read`; so a format costs nothing on the lines that are not its own.
struct LogFormat
{
    std::string_view id;
    std::string_view anchor;
    void (*read)(const LogLine& line, LineSink& sink);
};

/// The base format: the words phase=, step= and peak_alloc= in any order, and optionally rank=, peak_reserved=,
/// step_time=, tokens_per_s= and loss=.
[[nodiscard]] const LogFormat& plainFormat();

} // namespace headroom
