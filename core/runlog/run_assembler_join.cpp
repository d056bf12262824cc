// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a RunAssembler joins the columns of its pieces, several at a time.
#include "runlog/run_assembler.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <thread>

namespace headroom {
namespace {

constexpr std::int64_t largestLine = std::numeric_limits<std::uint32_t>::max();

/// Exact for a log that is read at once; one that grows doubles its columns.
template <class T> void reserveFirst(std::vector<T>& column, std::size_t size)
{
    if (column.empty()) {
        column.reserve(size);
    }
}

/// Does the jobs with several threads. What one throws is rethrown once all have ended.
void runJobs(const std::vector<std::function<void()>>& jobs, int threads)
{
    std::atomic<std::size_t> next{0};
    std::exception_ptr thrown;
    std::atomic_flag hasThrown = ATOMIC_FLAG_INIT;
    const auto work = [&]() noexcept {
        try {
            for (std::size_t i = next++; i < jobs.size(); i = next++) {
                jobs[i]();
            }
        } catch (...) {
            if (!hasThrown.test_and_set()) {
                thrown = std::current_exception();
            }
            next = jobs.size();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int i = 1; i < std::min(threads, static_cast<int>(jobs.size())); ++i) {
            others.emplace_back(work);
        }
        work();
    }
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

} // namespace

/// Each column is a job: its memory is touched for the first time by the thread that fills it, which is most of the
/// work.
class RunAssembler::ColumnJobs
{
public:
    explicit ColumnJobs(const RunAssembler& assembler)
        : m_parts(assembler.m_parts)
    {
    }

    /// A column of `size` values; `column` is the piece's.
    template <class T, class Column> void join(std::vector<T>& target, Column column, std::size_t size)
    {
        m_jobs.emplace_back([this, &target, column, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                const auto& more = column(part.chunk);
                target.insert(target.end(), more.begin(), more.end());
            }
        });
    }
    /// Lines, which pieces count from their own beginning.
    template <class Column> void joinLines(std::vector<std::uint32_t>& target, Column column, std::size_t size)
    {
        m_jobs.emplace_back([this, &target, column, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                for (const std::uint32_t line : column(part.chunk)) {
                    target.push_back(static_cast<std::uint32_t>(std::min(part.firstLine + line + 1, largestLine)));
                }
            }
        });
    }
    /// A column that few records have a value in.
    template <class T> void joinSparse(Sparse<T>& target, Sparse<T> LogChunk::*member)
    {
        m_jobs.emplace_back([this, &target, member] {
            std::size_t size = 0;
            for (const Part& part : m_parts) {
                size += (part.chunk.*member).records.size();
            }
            reserveFirst(target.records, size);
            reserveFirst(target.values, size);
            for (const Part& part : m_parts) {
                const auto& more = part.chunk.*member;
                for (const std::uint32_t record : more.records) {
                    target.records.push_back(static_cast<std::uint32_t>(part.firstRecord) + record);
                }
                target.values.insert(target.values.end(), more.values.begin(), more.values.end());
            }
        });
    }
    /// A column that whole pieces may lack.
    void joinReserved(std::vector<std::int64_t>& target, std::size_t size)
    {
        m_jobs.emplace_back([this, &target, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                target.resize(part.firstRecord, Run::noReserved);
                const auto& more = part.chunk.reservedBytes;
                target.insert(target.end(), more.begin(), more.end());
                target.resize(part.firstRecord + part.chunk.step.size(), Run::noReserved);
            }
        });
    }
    void joinPhases(std::vector<std::uint8_t>& target, std::size_t size)
    {
        m_jobs.emplace_back([this, &target, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                for (const std::uint8_t phase : part.chunk.phase) {
                    target.push_back(part.phases.empty() ? phase : part.phases[phase]);
                }
            }
        });
    }
    void joinTimerNames(std::vector<std::uint16_t>& target)
    {
        m_jobs.emplace_back([this, &target] {
            for (const Part& part : m_parts) {
                for (const std::uint16_t name : part.chunk.timers.name) {
                    target.push_back(part.timers[name]);
                }
            }
        });
    }

    void run(int threads) const { runJobs(m_jobs, threads); }

private:
    const std::vector<Part>& m_parts;
    std::vector<std::function<void()>> m_jobs;
};

void RunAssembler::joinRecords(int threads)
{
    ColumnJobs jobs(*this);
    jobs.join(
        m_run.allocatedBytes, [](const LogChunk& c) -> auto& { return c.allocatedBytes; }, m_records);
    if (m_hasReserved) {
        jobs.joinReserved(m_run.reservedBytes, m_records);
    }
    jobs.join(
        m_run.step, [](const LogChunk& c) -> auto& { return c.step; }, m_records);
    jobs.joinLines(
        m_run.line, [](const LogChunk& c) -> auto& { return c.line; }, m_records);
    jobs.join(
        m_run.rank, [](const LogChunk& c) -> auto& { return c.rank; }, m_records);
    jobs.joinPhases(m_run.phase, m_records);
    jobs.joinSparse(m_run.stepSeconds, &LogChunk::stepSeconds);
    jobs.joinSparse(m_run.tokensPerSecond, &LogChunk::tokensPerSecond);
    jobs.joinSparse(m_run.loss, &LogChunk::loss);
    jobs.joinSparse(m_run.currentBytes, &LogChunk::currentBytes);
    jobs.joinSparse(m_run.activeBytes, &LogChunk::activeBytes);
    jobs.joinSparse(m_run.deviceBytes, &LogChunk::deviceBytes);
    jobs.joinSparse(m_run.freeBytes, &LogChunk::freeBytes);
    jobs.joinSparse(m_run.activePercent, &LogChunk::activePercent);
    joinSteps(jobs);
    if (m_run.timers.size() < m_timers) {
        joinTimers(jobs);
    }
    jobs.run(threads);
}

void RunAssembler::joinSteps(ColumnJobs& jobs)
{
    StepColumns& steps = m_run.steps;
    jobs.join(
        steps.step, [](const LogChunk& c) -> auto& { return c.steps.step; }, m_stepRows);
    jobs.joinLines(
        steps.line, [](const LogChunk& c) -> auto& { return c.steps.line; }, m_stepRows);
    jobs.join(
        steps.seconds, [](const LogChunk& c) -> auto& { return c.steps.seconds; }, m_stepRows);
    jobs.join(
        steps.tokensPerSecond, [](const LogChunk& c) -> auto& { return c.steps.tokensPerSecond; }, m_stepRows);
    jobs.join(
        steps.loss, [](const LogChunk& c) -> auto& { return c.steps.loss; }, m_stepRows);
}

void RunAssembler::joinTimers(ColumnJobs& jobs)
{
    TimerColumns& timers = m_run.timers;
    jobs.join(
        timers.step, [](const LogChunk& c) -> auto& { return c.timers.step; }, m_timers);
    jobs.joinLines(
        timers.line, [](const LogChunk& c) -> auto& { return c.timers.line; }, m_timers);
    jobs.join(
        timers.rank, [](const LogChunk& c) -> auto& { return c.timers.rank; }, m_timers);
    jobs.join(
        timers.seconds, [](const LogChunk& c) -> auto& { return c.timers.seconds; }, m_timers);
    jobs.join(
        timers.leastSeconds, [](const LogChunk& c) -> auto& { return c.timers.leastSeconds; }, m_timers);
    jobs.joinTimerNames(timers.name);
}

} // namespace headroom
