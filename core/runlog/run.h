// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"
#include "units/bytes.h"
#include "units/problem.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A value that only some records carry.
template <class T> struct Sparse
{
    std::vector<std::uint32_t> records; ///< ascending indices into the Run's columns
    std::vector<T> values;
};

/// One record of a Run, gathered from its columns.
struct Record
{
    std::int64_t step = 0;
    std::uint8_t phase = 0; ///< index into Run::phaseNames
    std::int32_t rank = -1; ///< -1: the log does not say
    Bytes allocated;
    std::optional<Bytes> reserved;
    std::int64_t line = 0; ///< 1-based
    std::uint16_t file = 0; ///< index into Run::files
};

/// A training log as columns, in file order. All columns have the same length.
struct Run
{
    static constexpr std::int64_t noReserved = -1;

    std::vector<std::string> files;
    std::vector<std::int64_t> firstRecordOfFile; ///< records of file i start here
    std::vector<std::string> formats; ///< ids of the log formats seen
    std::vector<std::string> phaseNames{"forward", "backward", "optimizer"}; ///< the first three are Phase's

    std::vector<std::uint32_t> step;
    std::vector<std::uint8_t> phase;
    std::vector<std::int16_t> rank;
    std::vector<std::int64_t> allocatedBytes;
    std::vector<std::int64_t> reservedBytes; ///< empty when no record has one, else noReserved where absent
    std::vector<std::uint32_t> line;

    Sparse<float> stepSeconds, tokensPerSecond;
    Sparse<double> loss;

    std::int64_t lineCount = 0;
    std::int64_t byteCount = 0;
    std::vector<Problem> problems; ///< the first maxProblems of what could not be read
    std::int64_t problemCount = 0; ///< all of them
    static constexpr std::size_t maxProblems = 1000;

    [[nodiscard]] std::size_t size() const { return step.size(); }
    [[nodiscard]] bool isEmpty() const { return step.empty(); }
    [[nodiscard]] Record record(std::size_t index) const;
    [[nodiscard]] std::vector<std::int32_t> ranks() const; ///< those the log names: distinct, ascending
    /// Index of the largest allocated value of a phase (of any phase), optionally of one rank; the earliest wins.
    [[nodiscard]] std::optional<std::size_t> peak(std::optional<std::uint8_t> ofPhase = {},
                                                  std::optional<std::int32_t> ofRank = {}) const;
    /// Indices of the n largest allocated values, largest first, ties in file order.
    [[nodiscard]] std::vector<std::size_t> largest(std::size_t n) const;
};

} // namespace headroom
