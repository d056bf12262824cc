// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_chunk.h"

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

constexpr std::size_t mostFactsOfChunk = 20000;

std::string lowerCase(std::string_view name)
{
    std::string lower(name);
    for (char& c : lower) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
    return lower;
}

template <class T> void push(Sparse<T>& column, std::size_t record, const std::optional<T>& value)
{
    if (value) {
        column.records.push_back(static_cast<std::uint32_t>(record));
        column.values.push_back(*value);
    }
}

} // namespace

void ChunkBuilder::begin(std::size_t maxProblems)
{
    m_rows.clear();
    m_rest = {};
    m_maxProblems = maxProblems;
    m_hasReserved = false;
}

std::uint8_t ChunkBuilder::phaseIndex(std::string_view name)
{
    if (name == "forward") {
        return 0;
    }
    if (name == "backward") {
        return 1;
    }
    if (name == "optimizer") {
        return 2;
    }
    const std::string lower = lowerCase(name);
    if (lower != name) {
        return phaseIndex(lower);
    }
    std::vector<std::string>& names = m_rest.phaseNames;
    const auto found = std::ranges::find(names, lower);
    const auto index = LogChunk::knownPhases + static_cast<std::size_t>(found - names.begin());
    if (index >= LogChunk::otherPhases) {
        return LogChunk::otherPhases;
    }
    if (found == names.end()) {
        names.push_back(lower);
    }
    return static_cast<std::uint8_t>(index);
}

void ChunkBuilder::seen(std::size_t format)
{
    std::vector<bool>& formats = m_rest.formats;
    if (formats.size() <= format) {
        formats.resize(format + 1);
    }
    formats[format] = true;
}

void ChunkBuilder::sawStep(std::uint32_t step)
{
    StepBinding& binding = m_rest.binding;
    binding.first = binding.first.value_or(step);
    binding.last = step;
    for (const Unbound& row : binding.trailing) {
        stepAt(row) = step;
    }
    binding.trailing.clear();
}

std::uint32_t& ChunkBuilder::stepAt(const Unbound& row)
{
    switch (row.of) {
    case Unbound::Of::Steps:
        return m_rest.steps.step[row.index];
    case Unbound::Of::Timers:
        return m_rest.timers.step[row.index];
    case Unbound::Of::Records:
        break;
    }
    return m_rows[row.index].step;
}

std::uint32_t ChunkBuilder::stepOf(std::optional<std::uint32_t> step, LineFormat::Step nearStep, Unbound row)
{
    if (step) {
        sawStep(*step);
        return *step;
    }
    StepBinding& binding = m_rest.binding;
    if (nearStep == LineFormat::Step::Next) {
        binding.trailing.push_back(row);
    } else if (!binding.last) {
        binding.leading.push_back(row);
    }
    return binding.last.value_or(0);
}

void ChunkBuilder::record(const LineRecord& record)
{
    push(m_rest.stepSeconds, m_rows.size(), record.stepSeconds);
    push(m_rest.tokensPerSecond, m_rows.size(), record.tokensPerSecond);
    push(m_rest.loss, m_rows.size(), record.loss);
    push(m_rest.currentBytes, m_rows.size(), record.currentBytes);
    push(m_rest.activeBytes, m_rows.size(), record.activeBytes);
    push(m_rest.deviceBytes, m_rows.size(), record.deviceBytes);
    push(m_rest.freeBytes, m_rows.size(), record.freeBytes);
    push(m_rest.activePercent, m_rows.size(), record.activePercent);
    m_hasReserved = m_hasReserved || record.reservedBytes != Run::noReserved;
    const std::uint32_t step = stepOf(record.step, record.nearStep, {Unbound::Of::Records, m_rows.size()});
    m_rows.push_back({.allocatedBytes = record.allocatedBytes,
                      .reservedBytes = record.reservedBytes,
                      .step = step,
                      .line = static_cast<std::uint32_t>(m_line),
                      .rank = static_cast<std::int16_t>(record.rank),
                      .phase = phaseIndex(record.phase)});
}

void ChunkBuilder::step(const LineRecord& record)
{
    StepColumns& steps = m_rest.steps;
    if (!record.loss && !record.stepSeconds && !record.tokensPerSecond && !record.elapsedSeconds) {
        if (record.step) {
            sawStep(*record.step);
        }
        return;
    }
    constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
    push(m_rest.elapsedSeconds, steps.size(), record.elapsedSeconds);
    steps.step.push_back(stepOf(record.step, record.nearStep, {Unbound::Of::Steps, steps.size()}));
    steps.line.push_back(static_cast<std::uint32_t>(m_line));
    steps.seconds.push_back(record.stepSeconds.value_or(unknown));
    steps.tokensPerSecond.push_back(record.tokensPerSecond.value_or(unknown));
    steps.loss.push_back(record.loss.value_or(std::numeric_limits<double>::quiet_NaN()));
}

void ChunkBuilder::timer(const LineTimer& timer)
{
    TimerColumns& timers = m_rest.timers;
    const std::uint32_t step = stepOf(timer.step, timer.nearStep, {Unbound::Of::Timers, timers.size()});
    timers.step.push_back(step);
    timers.line.push_back(static_cast<std::uint32_t>(m_line + timer.distance));
    timers.name.push_back(TimerColumns::indexOf(timer.name, m_rest.timerNames));
    timers.rank.push_back(static_cast<std::int16_t>(timer.rank));
    timers.seconds.push_back(timer.seconds);
    timers.leastSeconds.push_back(timer.leastSeconds.value_or(std::numeric_limits<float>::quiet_NaN()));
}

bool repeatsCapacity(std::span<const LogFact> facts, const LogFact& fact)
{
    return fact.kind == LineKind::Capacity && std::ranges::any_of(facts, [&](const LogFact& other) {
               return other.kind == LineKind::Capacity && other.rank == fact.rank
                   && other.number("capacity_bytes") == fact.number("capacity_bytes");
           });
}

void ChunkBuilder::fact(LogFact fact)
{
    std::vector<LogFact>& facts = m_rest.facts;
    if (facts.size() < mostFactsOfChunk && !repeatsCapacity(facts, fact)) {
        facts.push_back(std::move(fact));
    }
}

void ChunkBuilder::problem(Severity severity, Text text)
{
    if (m_rest.problems.size() < m_maxProblems) {
        m_rest.problems.push_back({severity, m_line, std::move(text)});
    }
    ++m_rest.problemCount;
}

LogChunk ChunkBuilder::take()
{
    LogChunk chunk = std::move(m_rest);
    const auto fill = [this](auto& column, auto member) {
        column.reserve(m_rows.size());
        for (const Row& row : m_rows) {
            column.push_back(row.*member);
        }
    };
    fill(chunk.step, &Row::step);
    fill(chunk.phase, &Row::phase);
    fill(chunk.rank, &Row::rank);
    fill(chunk.allocatedBytes, &Row::allocatedBytes);
    if (m_hasReserved) {
        fill(chunk.reservedBytes, &Row::reservedBytes);
    }
    fill(chunk.line, &Row::line);
    return chunk;
}

} // namespace headroom
