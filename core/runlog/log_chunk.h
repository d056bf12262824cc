// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_format.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Something wrong on a line of a chunk; lines count from the chunk's first, as 0.
struct ChunkProblem
{
    Severity severity = Severity::Error;
    std::int64_t line = 0;
    Text text;
};

/// What one piece of a file holds, in columns as in Run. Lines count from the piece's first, as 0.
struct LogChunk
{
    static constexpr std::size_t knownPhases = 3; ///< Run::phaseNames starts with these
    static constexpr std::uint8_t otherPhases = 255; ///< names beyond the first 255

    std::vector<std::uint32_t> step;
    std::vector<std::uint8_t> phase; ///< knownPhases + index into phaseNames for names that are not known
    std::vector<std::int16_t> rank;
    std::vector<std::int64_t> allocatedBytes;
    std::vector<std::int64_t> reservedBytes; ///< empty when no record has one
    std::vector<std::uint32_t> line;
    Sparse<float> stepSeconds, tokensPerSecond;
    Sparse<double> loss;

    std::vector<std::string> phaseNames;
    std::vector<ChunkProblem> problems;
    std::int64_t problemCount = 0;
    std::int64_t lineFeeds = 0;
    bool endsInsideLine = false; ///< the file's last byte is in this chunk and is no line feed
    bool fileEndsEarly = false; ///< the file became shorter than it was when the reading began
    int readError = 0; ///< errno of a read that failed
};

/// Collects the records of a chunk. One builder serves many chunks, so that its memory is allocated once.
class ChunkBuilder final : public LineSink
{
public:
    /// Starts a chunk that keeps at most `maxProblems` problems and counts the others.
    void begin(std::size_t maxProblems);
    void setLine(std::int64_t line) { m_line = line; }
    void record(const LineRecord& record) override;
    void problem(Severity severity, Text text) override;
    /// The chunk, its columns allocated to size.
    [[nodiscard]] LogChunk take();

private:
    struct Row
    {
        std::int64_t allocatedBytes;
        std::int64_t reservedBytes;
        std::uint32_t step;
        std::uint32_t line;
        std::int16_t rank;
        std::uint8_t phase;
    };

    [[nodiscard]] std::uint8_t phaseIndex(std::string_view name);

    std::vector<Row> m_rows;
    LogChunk m_rest; ///< everything but the columns
    std::size_t m_maxProblems = 0;
    std::int64_t m_line = 0;
    bool m_hasReserved = false;
};

/// Puts the chunks of the files together, in order, into one Run.
class RunAssembler
{
public:
    /// Reserves room for the records of all chunks.
    explicit RunAssembler(const std::vector<LogChunk>& chunks);

    void beginFile(const std::string& name, std::int64_t bytes);
    /// A problem of the current file as a whole, told once.
    void fileProblem(Severity severity, Text text);
    void add(const LogChunk& chunk);
    [[nodiscard]] Run take() { return std::move(m_run); }

private:
    void addLines(const LogChunk& chunk);
    void addPhases(const LogChunk& chunk);
    void addProblems(const LogChunk& chunk);
    [[nodiscard]] std::uint8_t phaseIndex(const std::string& name);

    Run m_run;
    bool m_hasReserved = false;
    std::int64_t m_lines = 0; ///< of the current file, so far
    std::vector<Text> m_fileProblems; ///< of the current file
};

} // namespace headroom
