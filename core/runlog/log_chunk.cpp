// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/log_chunk.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr std::string_view otherPhasesName = "(other)";

std::string lowerCase(std::string_view name)
{
    std::string lower(name);
    for (char& c : lower) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    }
    return lower;
}

template <class T> void appendSparse(Sparse<T>& target, const Sparse<T>& chunk, std::size_t firstRecord)
{
    for (const std::uint32_t record : chunk.records) {
        target.records.push_back(static_cast<std::uint32_t>(firstRecord) + record);
    }
    target.values.insert(target.values.end(), chunk.values.begin(), chunk.values.end());
}

template <class T> void push(Sparse<T>& column, std::size_t record, const std::optional<T>& value)
{
    if (value) {
        column.records.push_back(static_cast<std::uint32_t>(record));
        column.values.push_back(*value);
    }
}

template <class T> void append(std::vector<T>& target, const std::vector<T>& more)
{
    target.insert(target.end(), more.begin(), more.end());
}

template <class T>
void reserveSparse(Sparse<T>& target, const std::vector<LogChunk>& chunks, Sparse<T> LogChunk::*column)
{
    std::size_t size = 0;
    for (const LogChunk& chunk : chunks) {
        size += (chunk.*column).records.size();
    }
    target.records.reserve(size);
    target.values.reserve(size);
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

void ChunkBuilder::record(const LineRecord& record)
{
    push(m_rest.stepSeconds, m_rows.size(), record.stepSeconds);
    push(m_rest.tokensPerSecond, m_rows.size(), record.tokensPerSecond);
    push(m_rest.loss, m_rows.size(), record.loss);
    m_hasReserved = m_hasReserved || record.reservedBytes != Run::noReserved;
    m_rows.push_back({.allocatedBytes = record.allocatedBytes,
                      .reservedBytes = record.reservedBytes,
                      .step = record.step,
                      .line = static_cast<std::uint32_t>(m_line),
                      .rank = static_cast<std::int16_t>(record.rank),
                      .phase = phaseIndex(record.phase)});
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

RunAssembler::RunAssembler(const std::vector<LogChunk>& chunks)
{
    std::size_t records = 0;
    for (const LogChunk& chunk : chunks) {
        records += chunk.step.size();
        m_hasReserved = m_hasReserved || !chunk.reservedBytes.empty();
    }
    m_run.step.reserve(records);
    m_run.phase.reserve(records);
    m_run.rank.reserve(records);
    m_run.allocatedBytes.reserve(records);
    m_run.reservedBytes.reserve(m_hasReserved ? records : 0);
    m_run.line.reserve(records);
    reserveSparse(m_run.stepSeconds, chunks, &LogChunk::stepSeconds);
    reserveSparse(m_run.tokensPerSecond, chunks, &LogChunk::tokensPerSecond);
    reserveSparse(m_run.loss, chunks, &LogChunk::loss);
}

void RunAssembler::beginFile(const std::string& name, std::int64_t bytes)
{
    m_run.files.push_back(name);
    m_run.firstRecordOfFile.push_back(static_cast<std::int64_t>(m_run.size()));
    m_run.byteCount += bytes;
    m_lines = 0;
    m_fileProblems.clear();
}

void RunAssembler::fileProblem(Severity severity, Text text)
{
    if (std::ranges::find(m_fileProblems, text) != m_fileProblems.end()) {
        return;
    }
    m_fileProblems.push_back(text);
    if (m_run.problems.size() < Run::maxProblems) {
        m_run.problems.push_back({severity, m_run.files.back(), 0, std::move(text)});
    }
    ++m_run.problemCount;
}

void RunAssembler::add(const LogChunk& chunk)
{
    const std::size_t first = m_run.size();
    addProblems(chunk);
    addPhases(chunk);
    addLines(chunk);
    append(m_run.rank, chunk.rank);
    append(m_run.allocatedBytes, chunk.allocatedBytes);
    append(m_run.reservedBytes, chunk.reservedBytes);
    append(m_run.step, chunk.step);
    if (m_hasReserved) {
        m_run.reservedBytes.resize(m_run.size(), Run::noReserved);
    }
    appendSparse(m_run.stepSeconds, chunk.stepSeconds, first);
    appendSparse(m_run.tokensPerSecond, chunk.tokensPerSecond, first);
    appendSparse(m_run.loss, chunk.loss, first);
    const std::int64_t lines = chunk.lineFeeds + (chunk.endsInsideLine ? 1 : 0);
    m_lines += lines;
    m_run.lineCount += lines;
}

/// Line numbers are kept in 32 bits; a file of more lines than that keeps its records and says so.
void RunAssembler::addLines(const LogChunk& chunk)
{
    constexpr std::int64_t largest = std::numeric_limits<std::uint32_t>::max();
    const std::size_t first = m_run.line.size();
    append(m_run.line, chunk.line);
    const bool fits = chunk.line.empty() || m_lines + chunk.line.back() + 1 <= largest;
    if (fits) {
        const auto before = static_cast<std::uint32_t>(m_lines + 1);
        for (std::size_t i = first; i < m_run.line.size(); ++i) {
            m_run.line[i] += before;
        }
    } else {
        for (std::size_t i = first; i < m_run.line.size(); ++i) {
            m_run.line[i] = static_cast<std::uint32_t>(std::min(m_lines + m_run.line[i] + 1, largest));
        }
        fileProblem(Severity::Warning,
                    Text(HEADROOM_TR("core", "line numbers are counted up to %1 only"), {std::to_string(largest)}));
    }
}

std::uint8_t RunAssembler::phaseIndex(const std::string& name)
{
    std::vector<std::string>& names = m_run.phaseNames;
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (index >= LogChunk::otherPhases) {
        return LogChunk::otherPhases;
    }
    if (found == names.end()) {
        names.push_back(name);
    }
    return static_cast<std::uint8_t>(index);
}

void RunAssembler::addPhases(const LogChunk& chunk)
{
    if (chunk.phaseNames.empty()) {
        append(m_run.phase, chunk.phase);
        return;
    }
    std::vector<std::uint8_t> indices{0, 1, 2};
    for (const std::string& name : chunk.phaseNames) {
        indices.push_back(phaseIndex(name));
    }
    bool others = false;
    for (const std::uint8_t phase : chunk.phase) {
        const std::uint8_t index = phase < indices.size() ? indices[phase] : LogChunk::otherPhases;
        m_run.phase.push_back(index);
        others = others || index == LogChunk::otherPhases;
    }
    if (others) {
        m_run.phaseNames.resize(LogChunk::otherPhases);
        m_run.phaseNames.emplace_back(otherPhasesName);
        fileProblem(Severity::Warning,
                    Text(HEADROOM_TR("core", "there are more than %1 phase names; the others are read as one"),
                         {std::to_string(LogChunk::otherPhases)}));
    }
}

void RunAssembler::addProblems(const LogChunk& chunk)
{
    for (const ChunkProblem& problem : chunk.problems) {
        if (m_run.problems.size() < Run::maxProblems) {
            m_run.problems.push_back({problem.severity, m_run.files.back(), m_lines + problem.line + 1, problem.text});
        }
    }
    m_run.problemCount += chunk.problemCount;
}

} // namespace headroom
