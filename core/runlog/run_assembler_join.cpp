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
void RunAssembler::joinRecords(int threads)
{
    std::vector<std::function<void()>> jobs;
    const auto join = [&](auto& target, auto column, std::size_t size) {
        jobs.emplace_back([this, &target, column, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                const auto& more = column(part.chunk);
                target.insert(target.end(), more.begin(), more.end());
            }
        });
    };
    const auto joinLines = [&](std::vector<std::uint32_t>& target, auto column, std::size_t size) {
        jobs.emplace_back([this, &target, column, size] {
            reserveFirst(target, size);
            for (const Part& part : m_parts) {
                for (const std::uint32_t line : column(part.chunk)) {
                    target.push_back(static_cast<std::uint32_t>(std::min(part.firstLine + line + 1, largestLine)));
                }
            }
        });
    };
    const auto joinSparse = [&](auto& target, auto member) {
        jobs.emplace_back([this, &target, member] {
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
    };
    join(
        m_run.allocatedBytes, [](const LogChunk& c) -> auto& { return c.allocatedBytes; }, m_records);
    if (m_hasReserved) {
        jobs.emplace_back([this] {
            reserveFirst(m_run.reservedBytes, m_records);
            for (const Part& part : m_parts) {
                m_run.reservedBytes.resize(part.firstRecord, Run::noReserved);
                const auto& more = part.chunk.reservedBytes;
                m_run.reservedBytes.insert(m_run.reservedBytes.end(), more.begin(), more.end());
                m_run.reservedBytes.resize(part.firstRecord + part.chunk.step.size(), Run::noReserved);
            }
        });
    }
    join(
        m_run.step, [](const LogChunk& c) -> auto& { return c.step; }, m_records);
    joinLines(
        m_run.line, [](const LogChunk& c) -> auto& { return c.line; }, m_records);
    join(
        m_run.rank, [](const LogChunk& c) -> auto& { return c.rank; }, m_records);
    jobs.emplace_back([this] {
        reserveFirst(m_run.phase, m_records);
        for (const Part& part : m_parts) {
            for (const std::uint8_t phase : part.chunk.phase) {
                m_run.phase.push_back(part.phases.empty() ? phase : part.phases[phase]);
            }
        }
    });
    joinSparse(m_run.stepSeconds, &LogChunk::stepSeconds);
    joinSparse(m_run.tokensPerSecond, &LogChunk::tokensPerSecond);
    joinSparse(m_run.loss, &LogChunk::loss);
    joinSparse(m_run.currentBytes, &LogChunk::currentBytes);
    joinSparse(m_run.activeBytes, &LogChunk::activeBytes);
    joinSparse(m_run.deviceBytes, &LogChunk::deviceBytes);
    joinSparse(m_run.freeBytes, &LogChunk::freeBytes);
    joinSparse(m_run.activePercent, &LogChunk::activePercent);
    join(
        m_run.steps.step, [](const LogChunk& c) -> auto& { return c.steps.step; }, m_stepRows);
    joinLines(
        m_run.steps.line, [](const LogChunk& c) -> auto& { return c.steps.line; }, m_stepRows);
    join(
        m_run.steps.seconds, [](const LogChunk& c) -> auto& { return c.steps.seconds; }, m_stepRows);
    join(
        m_run.steps.tokensPerSecond, [](const LogChunk& c) -> auto& { return c.steps.tokensPerSecond; }, m_stepRows);
    join(
        m_run.steps.loss, [](const LogChunk& c) -> auto& { return c.steps.loss; }, m_stepRows);
    if (m_run.timers.size() < m_timers) {
        join(
            m_run.timers.step, [](const LogChunk& c) -> auto& { return c.timers.step; }, m_timers);
        joinLines(
            m_run.timers.line, [](const LogChunk& c) -> auto& { return c.timers.line; }, m_timers);
        join(
            m_run.timers.rank, [](const LogChunk& c) -> auto& { return c.timers.rank; }, m_timers);
        join(
            m_run.timers.seconds, [](const LogChunk& c) -> auto& { return c.timers.seconds; }, m_timers);
        join(
            m_run.timers.leastSeconds, [](const LogChunk& c) -> auto& { return c.timers.leastSeconds; }, m_timers);
        jobs.emplace_back([this] {
            for (const Part& part : m_parts) {
                for (const std::uint16_t name : part.chunk.timers.name) {
                    m_run.timers.name.push_back(part.timers[name]);
                }
            }
        });
    }
    runJobs(jobs, threads);
}

} // namespace headroom
