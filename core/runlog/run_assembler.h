// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"
#include "runlog/log_chunk.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Puts the chunks of the files together, in order, into one Run. The small things are gathered chunk by chunk with
/// add; the columns of all chunks are joined at the end, several at a time.
class RunAssembler
{
public:
    explicit RunAssembler(const LineFormats& formats)
        : m_formats(formats)
    {
    }

    /// `rank`: of the file's records that name none; -1 when the file's name has none.
    void beginFile(const std::string& name, std::int64_t bytes, std::int32_t rank = -1);
    /// A problem of the current file as a whole, told once.
    void fileProblem(Severity severity, Text text);
    /// The chunk is kept until `take`.
    void add(LogChunk chunk);
    [[nodiscard]] Run take(int threads = 1);
    /// Joins what was added so far, for logs that grow: records that wait for a step have the last one until it comes.
    [[nodiscard]] Run& update(int threads = 1);

private:
    struct Part
    {
        LogChunk chunk;
        std::size_t firstRecord = 0;
        std::size_t firstStepRow = 0;
        std::size_t firstTimer = 0;
        std::int64_t firstLine = 0; ///< lines of the file before the chunk
        std::vector<std::uint8_t> phases; ///< the Run's index for each of the chunk's; empty: the same
        std::vector<std::uint16_t> timers; ///< the Run's index for each of the chunk's
    };
    struct FileRank
    {
        std::size_t firstRecord;
        std::size_t firstFact;
        std::size_t firstTimer;
        std::int32_t rank;
    };

    void endFile();
    void addFacts(LogChunk& chunk);
    void addPhases(Part& part);
    void addTimerNames(Part& part);
    [[nodiscard]] std::uint32_t& stepOf(const Unbound& row);
    void addProblems(const LogChunk& chunk);
    void checkLines(const Part& part);
    void timeSteps(LogChunk& chunk);
    void bindSteps(const Part& part);
    void bind(const Unbound& row, std::uint32_t step);
    [[nodiscard]] std::uint8_t phaseIndex(const std::string& name);
    class ColumnJobs;
    void joinRecords(int threads);
    void joinSteps(ColumnJobs& jobs);
    void joinTimers(ColumnJobs& jobs);
    void applyRanks();

    const LineFormats& m_formats;
    Run m_run;
    std::vector<Part> m_parts;
    std::vector<FileRank> m_ranks;
    std::vector<bool> m_seen; ///< formats
    std::size_t m_records = 0;
    std::size_t m_stepRows = 0;
    std::size_t m_timers = 0;
    bool m_hasReserved = false;
    std::int64_t m_lines = 0; ///< of the current file, so far
    std::vector<Text> m_fileProblems; ///< of the current file
    std::optional<std::uint32_t> m_lastStep; ///< of the current file
    std::optional<std::pair<std::uint32_t, double>> m_lastElapsed; ///< of the current file: step, seconds
    std::vector<Unbound> m_waiting; ///< of the current file: global indices
    std::vector<std::pair<Unbound, std::uint32_t>> m_bound;
};

} // namespace headroom
