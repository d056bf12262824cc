// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/log_format.h"

#include <cstdint>
#include <span>
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

/// A record or a row whose line has no step of its own.
struct Unbound
{
    enum class Of : std::uint8_t { Records, Steps, Timers };
    Of of = Of::Records;
    std::size_t index = 0;
};

/// What is needed to give such records a step once the pieces before and after are known.
struct StepBinding
{
    std::optional<std::uint32_t> first, last; ///< steps that lines of this piece name
    std::vector<Unbound> leading; ///< take the last step of the pieces before, else the first after
    std::vector<Unbound> trailing; ///< take the first step of the pieces after
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
    Sparse<std::int64_t> currentBytes, activeBytes, deviceBytes, freeBytes;
    Sparse<float> activePercent;
    StepColumns steps;
    TimerColumns timers;
    std::vector<std::string> timerNames;
    Sparse<double> elapsedSeconds; ///< of rows of `steps`, since the training began
    std::vector<LogFact> facts;
    std::vector<bool> formats; ///< which were seen, by index
    StepBinding binding;

    std::vector<std::string> phaseNames;
    std::vector<ChunkProblem> problems;
    std::int64_t problemCount = 0;
    std::int64_t lineFeeds = 0;
    bool endsInsideLine = false; ///< the file's last byte is in this chunk and is no line feed
    bool fileEndsEarly = false; ///< the file became shorter than it was when the reading began
    int readError = 0; ///< errno of a read that failed
};

/// Some frameworks repeat the GPU's capacity on each line: whether `facts` have this one already.
[[nodiscard]] bool repeatsCapacity(std::span<const LogFact> facts, const LogFact& fact);

/// Collects the records of a chunk. One builder serves many chunks, so that its memory is allocated once.
class ChunkBuilder final : public LineSink
{
public:
    /// Starts a chunk that keeps at most `maxProblems` problems and counts the others.
    void begin(std::size_t maxProblems);
    void setLine(std::int64_t line) { m_line = line; }
    void seen(std::size_t format) override;
    void record(const LineRecord& record) override;
    void step(const LineRecord& record) override;
    void timer(const LineTimer& timer) override;
    void fact(LogFact fact) override;
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
    [[nodiscard]] std::uint32_t stepOf(std::optional<std::uint32_t> step, LineFormat::Step nearStep, Unbound row);
    [[nodiscard]] std::uint32_t& stepAt(const Unbound& row);
    void sawStep(std::uint32_t step);

    std::vector<Row> m_rows;
    LogChunk m_rest; ///< everything but the columns
    std::size_t m_maxProblems = 0;
    std::int64_t m_line = 0;
    bool m_hasReserved = false;
};

} // namespace headroom
