// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_format.h"
#include "runlog/record_draft.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The lines around the one that is read.
class Surroundings
{
public:
    virtual ~Surroundings() = default;
    /// Up to `count` lines that end where the line begins, or begin where it ends; without colour codes, each with its
    /// line end. Valid until the next call.
    [[nodiscard]] virtual std::string_view before(int count) = 0;
    [[nodiscard]] virtual std::string_view after(int count) = 0;
};

/// Reads the lines on which anchors were found. What different formats find on one line is one record; a format that
/// matches again begins the next, since processes write into one another's lines.
class LineReader
{
public:
    explicit LineReader(const LineFormats& formats)
        : m_formats(formats)
    {
    }

    /// `formats` are those whose anchors are on the line, as indices. Facts get `line` + their distance from it.
    void read(const LogLine& line, std::span<const std::uint16_t> formats, std::int64_t number, Surroundings& around,
              LineSink& sink);

private:
    [[nodiscard]] bool readFormat(const LineFormat& format, const LogLine& line, Surroundings& around);
    void readMatch(const LineFormat& format, std::string_view text, Surroundings& around);
    void readPairs(const LineFormat& pairs, std::string_view text);
    void readRows(const LineFormat& format, Surroundings& around);
    void readRow(const LineFormat& head, const LineFormat& row, std::string_view text, std::int64_t distance);
    [[nodiscard]] std::string messageBefore(const LineFormat& format, Surroundings& around);
    void takeKindFromPhase();
    void apply(const LineFormat& format, std::int64_t distance = 0);
    void addTimer(std::string_view name, double milliseconds, std::int64_t distance);
    void addNamedTimer(const LineFormat& format, std::int64_t distance);
    void addFact(const LineFormat& format, std::int64_t distance);
    void flush();

    const LineFormats& m_formats;
    PatternMatcher m_matcher;
    PatternMatcher m_messageMatcher; ///< while fields found by the other are in use
    struct Timer
    {
        std::string name;
        LineTimer times;
    };
    std::vector<Timer> m_timers; ///< of the draft
    std::string m_timerName; ///< of the rows below the one that has it
    RecordDraft m_draft;
    LineSink* m_sink = nullptr;
    std::int64_t m_number = 0;
    std::string_view m_line;
    std::string m_phase; ///< of the draft
    std::string m_joined; ///< the line with those after it
};

} // namespace headroom
