// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/run_assembler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr std::string_view otherPhasesName = "(other)";
constexpr std::int64_t largestLine = std::numeric_limits<std::uint32_t>::max();

} // namespace

void RunAssembler::endFile()
{
    for (const Unbound& row : m_waiting) {
        bind(row, m_lastStep.value_or(0));
    }
    m_waiting.clear();
    m_lastStep.reset();
    m_lastElapsed.reset();
}

void RunAssembler::beginFile(const std::string& name, std::int64_t bytes, std::int32_t rank)
{
    endFile();
    m_run.files.push_back(name);
    m_run.firstRecordOfFile.push_back(static_cast<std::int64_t>(m_records));
    m_run.firstStepOfFile.push_back(static_cast<std::int64_t>(m_stepRows));
    m_run.byteCount += bytes;
    m_run.firstTimerOfFile.push_back(static_cast<std::int64_t>(m_timers));
    m_ranks.push_back({m_records, m_run.facts.size(), m_timers, rank});
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

void RunAssembler::add(LogChunk chunk)
{
    Part part{std::move(chunk), m_records, m_stepRows, m_timers, m_lines, {}, {}};
    timeSteps(part.chunk);
    addProblems(part.chunk);
    addFacts(part.chunk);
    addPhases(part);
    addTimerNames(part);
    checkLines(part);
    bindSteps(part);
    m_seen.resize(std::max(m_seen.size(), part.chunk.formats.size()));
    for (std::size_t i = 0; i < part.chunk.formats.size(); ++i) {
        m_seen[i] = m_seen[i] || part.chunk.formats[i];
    }
    m_hasReserved = m_hasReserved || !part.chunk.reservedBytes.empty();
    m_records += part.chunk.step.size();
    m_stepRows += part.chunk.steps.size();
    m_timers += part.chunk.timers.size();
    const std::int64_t lines = part.chunk.lineFeeds + (part.chunk.endsInsideLine ? 1 : 0);
    m_lines += lines;
    m_run.lineCount += lines;
    m_parts.push_back(std::move(part));
}

void RunAssembler::addFacts(LogChunk& chunk)
{
    for (LogFact& fact : chunk.facts) {
        if (m_run.facts.size() >= Run::maxFacts) {
            fileProblem(Severity::Warning,
                        Text(HEADROOM_TR("core",
                                         "more than %1 arguments, parameter counts and messages; the others "
                                         "are left out"),
                             {std::to_string(Run::maxFacts)}));
            break;
        }
        if (repeatsCapacity(std::span(m_run.facts).subspan(m_ranks.back().firstFact), fact)) {
            continue;
        }
        fact.file = static_cast<std::uint16_t>(m_run.files.size() - 1);
        fact.line += m_lines + 1;
        m_run.facts.push_back(std::move(fact));
    }
    chunk.facts.clear();
}

/// Line numbers are kept in 32 bits; a file of more lines than that keeps its records and says so.
void RunAssembler::checkLines(const Part& part)
{
    const LogChunk& chunk = part.chunk;
    const std::int64_t last = std::max<std::int64_t>(chunk.line.empty() ? 0 : chunk.line.back(),
                                                     chunk.steps.line.empty() ? 0 : chunk.steps.line.back());
    if (part.firstLine + last + 1 > largestLine) {
        fileProblem(Severity::Warning,
                    Text(HEADROOM_TR("core", "line numbers are counted up to %1 only"), {std::to_string(largestLine)}));
    }
}

/// Where a line has the time since the beginning, what else it calls a step's time is an average over all of them.
void RunAssembler::timeSteps(LogChunk& chunk)
{
    for (std::size_t i = 0; i < chunk.elapsedSeconds.records.size(); ++i) {
        const std::uint32_t row = chunk.elapsedSeconds.records[i];
        const std::uint32_t step = chunk.steps.step[row];
        const double elapsed = chunk.elapsedSeconds.values[i];
        float& seconds = chunk.steps.seconds[row];
        seconds = std::numeric_limits<float>::quiet_NaN();
        if (m_lastElapsed && step > m_lastElapsed->first && elapsed >= m_lastElapsed->second) {
            seconds = static_cast<float>((elapsed - m_lastElapsed->second) / (step - m_lastElapsed->first));
        }
        m_lastElapsed = {step, elapsed};
    }
}

void RunAssembler::bind(const Unbound& row, std::uint32_t step)
{
    m_bound.emplace_back(row, step);
}

void RunAssembler::bindSteps(const Part& part)
{
    const StepBinding& binding = part.chunk.binding;
    const auto global = [&](const Unbound& row) {
        const std::size_t first = row.of == Unbound::Of::Records ? part.firstRecord
            : row.of == Unbound::Of::Steps                       ? part.firstStepRow
                                                                 : part.firstTimer;
        return Unbound{row.of, row.index + first};
    };
    if (binding.first) {
        for (const Unbound& row : m_waiting) {
            bind(row, *binding.first);
        }
        m_waiting.clear();
    }
    for (const Unbound& row : binding.leading) {
        if (m_lastStep || binding.first) {
            bind(global(row), m_lastStep ? *m_lastStep : *binding.first);
        } else {
            m_waiting.push_back(global(row));
        }
    }
    for (const Unbound& row : binding.trailing) {
        m_waiting.push_back(global(row));
    }
    m_lastStep = binding.last ? binding.last : m_lastStep;
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

void RunAssembler::addPhases(Part& part)
{
    if (part.chunk.phaseNames.empty()) {
        return;
    }
    part.phases = {0, 1, 2};
    for (const std::string& name : part.chunk.phaseNames) {
        part.phases.push_back(phaseIndex(name));
    }
    part.phases.resize(256, LogChunk::otherPhases);
    const bool others = std::ranges::any_of(
        part.chunk.phase, [&](std::uint8_t phase) { return part.phases[phase] == LogChunk::otherPhases; });
    if (others) {
        m_run.phaseNames.resize(LogChunk::otherPhases);
        m_run.phaseNames.emplace_back(otherPhasesName);
        fileProblem(Severity::Warning,
                    Text(HEADROOM_TR("core", "there are more than %1 phase names; the others are read as one"),
                         {std::to_string(LogChunk::otherPhases)}));
    }
}

void RunAssembler::addTimerNames(Part& part)
{
    std::vector<std::string>& names = m_run.timerNames;
    for (const std::string& name : part.chunk.timerNames) {
        part.timers.push_back(TimerColumns::indexOf(name, names));
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

/// Records and facts without a rank have that of their file's name.
void RunAssembler::applyRanks()
{
    for (std::size_t file = 0; file < m_ranks.size(); ++file) {
        if (m_ranks[file].rank < 0) {
            continue;
        }
        const bool last = file + 1 == m_ranks.size();
        const std::size_t records = last ? m_run.size() : m_ranks[file + 1].firstRecord;
        for (std::size_t i = m_ranks[file].firstRecord; i < records; ++i) {
            m_run.rank[i] = m_run.rank[i] < 0 ? static_cast<std::int16_t>(m_ranks[file].rank) : m_run.rank[i];
        }
        const std::size_t facts = last ? m_run.facts.size() : m_ranks[file + 1].firstFact;
        for (std::size_t i = m_ranks[file].firstFact; i < facts; ++i) {
            m_run.facts[i].rank = m_run.facts[i].rank < 0 ? m_ranks[file].rank : m_run.facts[i].rank;
        }
        const std::size_t timers = last ? m_run.timers.size() : m_ranks[file + 1].firstTimer;
        for (std::size_t i = m_ranks[file].firstTimer; i < timers; ++i) {
            const bool isOfAllRanks = !std::isnan(m_run.timers.leastSeconds[i]);
            if (m_run.timers.rank[i] < 0 && !isOfAllRanks) {
                m_run.timers.rank[i] = static_cast<std::int16_t>(m_ranks[file].rank);
            }
        }
    }
}

std::uint32_t& RunAssembler::stepOf(const Unbound& row)
{
    return (row.of == Unbound::Of::Records     ? m_run.step
                : row.of == Unbound::Of::Steps ? m_run.steps.step
                                               : m_run.timers.step)[row.index];
}

Run& RunAssembler::update(int threads)
{
    joinRecords(threads);
    m_parts.clear();
    for (const auto& [row, step] : m_bound) {
        stepOf(row) = step;
    }
    m_bound.clear();
    for (const Unbound& row : m_waiting) {
        stepOf(row) = m_lastStep.value_or(0);
    }
    applyRanks();
    m_run.formats.clear();
    for (std::size_t i = 0; i < m_seen.size(); ++i) {
        if (m_seen[i]) {
            m_run.formats.push_back(m_formats.formats[i].id);
        }
    }
    return m_run;
}

Run RunAssembler::take(int threads)
{
    endFile();
    return std::move(update(threads));
}

} // namespace headroom
