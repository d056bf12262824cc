// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"
#include "runlog/log_fact.h"
#include "runlog/timers.h"
#include "units/bytes.h"
#include "units/problem.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A value that only some records carry.
template <class T> struct Sparse
{
    std::vector<std::uint32_t> records; ///< ascending indices into the Run's columns
    std::vector<T> values;
};

/// What a log says about its steps on lines without amounts of memory; NaN where a line does not say.
struct StepColumns
{
    std::vector<std::uint32_t> step, line;
    std::vector<float> seconds, tokensPerSecond;
    std::vector<double> loss;

    [[nodiscard]] std::size_t size() const { return step.size(); }
};

/// One record of a Run, gathered from its columns.
struct Record
{
    std::int64_t step = 0;
    std::uint8_t phase = 0; ///< index into Run::phaseNames
    std::int32_t rank = -1; ///< -1: the log does not say
    Bytes allocated; ///< 0 when the record has only other amounts, see Run::hasAllocated
    std::optional<Bytes> reserved;
    std::int64_t line = 0; ///< 1-based
    std::uint16_t file = 0; ///< index into Run::files
};

/// A training log as columns, in file order. All columns have the same length.
struct Run
{
    static constexpr std::int64_t noReserved = -1;
    static constexpr std::int64_t noAllocated = -1;
    static constexpr std::string_view wholeStep = "total"; ///< the phase of records that are about no single phase

    std::vector<std::string> files;
    std::vector<std::int64_t> firstRecordOfFile; ///< records of file i start here
    std::vector<std::string> formats; ///< ids of the log formats seen
    std::vector<std::string> phaseNames{"forward", "backward", "optimizer"}; ///< the first three are Phase's

    std::vector<std::uint32_t> step;
    std::vector<std::uint8_t> phase;
    std::vector<std::int16_t> rank;
    std::vector<std::int64_t> allocatedBytes; ///< peaks; noAllocated where a line has other amounts only
    std::vector<std::int64_t> reservedBytes; ///< empty when no record has one, else noReserved where absent
    std::vector<std::uint32_t> line;

    Sparse<float> stepSeconds, tokensPerSecond;
    Sparse<double> loss;
    Sparse<std::int64_t> currentBytes; ///< allocated at the moment of the line
    Sparse<std::int64_t> activeBytes; ///< peak of active blocks: allocated or waiting for a stream
    Sparse<std::int64_t> freeBytes; ///< what was left of the device at the peak
    Sparse<float> activePercent; ///< peak of active blocks, of the device's capacity
    Sparse<std::int64_t> deviceBytes; ///< what the device is missing, all processes together

    StepColumns steps;
    std::vector<std::int64_t> firstStepOfFile; ///< rows of `steps` of file i start here
    TimerColumns timers;
    std::vector<std::int64_t> firstTimerOfFile; ///< rows of `timers` of file i start here
    std::vector<std::string> timerNames; ///< as the log has them
    std::vector<LogFact> facts; ///< in file order; at most maxFacts
    static constexpr std::size_t maxFacts = 100000;
    std::vector<Text> inferences; ///< what was concluded and not read, with the reason

    std::int64_t lineCount = 0;
    std::int64_t byteCount = 0;
    std::vector<Problem> problems; ///< the first maxProblems of what could not be read
    std::int64_t problemCount = 0; ///< all of them
    static constexpr std::size_t maxProblems = 1000;

    [[nodiscard]] std::size_t size() const { return step.size(); }
    [[nodiscard]] bool isEmpty() const { return step.empty(); }
    [[nodiscard]] bool hasAllocated(std::size_t index) const { return allocatedBytes[index] != noAllocated; }
    [[nodiscard]] Record record(std::size_t index) const;
    [[nodiscard]] std::vector<std::int32_t> ranks() const; ///< those the log names: distinct, ascending
    /// Index of the largest allocated value of a phase (of any phase), optionally of one rank; the earliest wins.
    /// None when no record has one.
    [[nodiscard]] std::optional<std::size_t> peak(std::optional<std::uint8_t> ofPhase = {},
                                                  std::optional<std::int32_t> ofRank = {}) const;
    /// Step times (tokens per second) of records and of rows of `steps`, those that are numbers, in that order.
    [[nodiscard]] std::vector<float> allStepSeconds() const;
    [[nodiscard]] std::vector<float> allTokensPerSecond() const;
    /// Indices of the n largest allocated values, largest first, ties in file order.
    [[nodiscard]] std::vector<std::size_t> largest(std::size_t n) const;
};

} // namespace headroom
