// SPDX-License-Identifier: GPL-3.0-or-later
#include "runlog/joined_runs.h"

#include "runlog/log_chunk.h"

#include <algorithm>
#include <array>

namespace headroom {
namespace {

template <class T> void append(std::vector<T>& all, const std::vector<T>& more)
{
    all.insert(all.end(), more.begin(), more.end());
}

template <class T> void append(Sparse<T>& all, const Sparse<T>& more, std::size_t firstRecord)
{
    for (const std::uint32_t record : more.records) {
        all.records.push_back(static_cast<std::uint32_t>(firstRecord + record));
    }
    append(all.values, more.values);
}

void reserveRecords(Run& all, std::span<const Run* const> runs)
{
    std::size_t records = 0;
    bool hasReserved = false;
    for (const Run* run : runs) {
        records += run->size();
        hasReserved = hasReserved || !run->reservedBytes.empty();
    }
    all.step.reserve(records);
    all.phase.reserve(records);
    all.rank.reserve(records);
    all.allocatedBytes.reserve(records);
    all.reservedBytes.reserve(hasReserved ? records : 0);
    all.line.reserve(records);
}

/// The index in `all` of each phase of `more`.
std::array<std::uint8_t, 256> phasesOf(Run& all, const Run& more)
{
    std::array<std::uint8_t, 256> indices{};
    indices.fill(LogChunk::otherPhases);
    for (std::size_t i = 0; i < std::min(more.phaseNames.size(), indices.size()); ++i) {
        const auto known = std::ranges::find(all.phaseNames, more.phaseNames[i]);
        const auto index
            = std::min<std::size_t>(static_cast<std::size_t>(known - all.phaseNames.begin()), LogChunk::otherPhases);
        if (known == all.phaseNames.end() && all.phaseNames.size() <= LogChunk::otherPhases) {
            all.phaseNames.push_back(index == LogChunk::otherPhases ? "(other)" : more.phaseNames[i]);
        }
        indices[i] = static_cast<std::uint8_t>(index);
    }
    return indices;
}

void appendRecords(Run& all, const Run& more)
{
    const std::size_t first = all.size();
    append(all.step, more.step);
    append(all.rank, more.rank);
    append(all.allocatedBytes, more.allocatedBytes);
    append(all.line, more.line);
    const auto phases = phasesOf(all, more);
    std::ranges::transform(more.phase, std::back_inserter(all.phase),
                           [&](std::uint8_t phase) { return phases[phase]; });
    if (!more.reservedBytes.empty() || !all.reservedBytes.empty()) {
        all.reservedBytes.resize(first, Run::noReserved);
        append(all.reservedBytes, more.reservedBytes);
        all.reservedBytes.resize(all.size(), Run::noReserved);
    }
    append(all.stepSeconds, more.stepSeconds, first);
    append(all.tokensPerSecond, more.tokensPerSecond, first);
    append(all.loss, more.loss, first);
    append(all.currentBytes, more.currentBytes, first);
    append(all.activeBytes, more.activeBytes, first);
    append(all.freeBytes, more.freeBytes, first);
    append(all.activePercent, more.activePercent, first);
    append(all.deviceBytes, more.deviceBytes, first);
}

void appendSteps(StepColumns& all, const StepColumns& more)
{
    append(all.step, more.step);
    append(all.line, more.line);
    append(all.seconds, more.seconds);
    append(all.tokensPerSecond, more.tokensPerSecond);
    append(all.loss, more.loss);
}

void appendTimers(Run& all, const Run& more)
{
    append(all.timers.step, more.timers.step);
    append(all.timers.line, more.timers.line);
    append(all.timers.rank, more.timers.rank);
    append(all.timers.seconds, more.timers.seconds);
    append(all.timers.leastSeconds, more.timers.leastSeconds);
    std::vector<std::uint16_t> names;
    for (const std::string& name : more.timerNames) {
        names.push_back(TimerColumns::indexOf(name, all.timerNames));
    }
    std::ranges::transform(more.timers.name, std::back_inserter(all.timers.name),
                           [&](std::uint16_t name) { return names[name]; });
}

void appendFacts(Run& all, const Run& more)
{
    const std::size_t file = all.files.size();
    const std::size_t room = Run::maxFacts - std::min(all.facts.size(), Run::maxFacts);
    for (std::size_t i = 0; i < std::min(more.facts.size(), room); ++i) {
        all.facts.push_back(more.facts[i]);
        all.facts.back().file = static_cast<std::uint16_t>(file + more.facts[i].file);
    }
}

void appendProblems(Run& all, const Run& more)
{
    const std::size_t room = Run::maxProblems - std::min(all.problems.size(), Run::maxProblems);
    const auto end = more.problems.begin() + static_cast<std::ptrdiff_t>(std::min(more.problems.size(), room));
    all.problems.insert(all.problems.end(), more.problems.begin(), end);
    all.problemCount += more.problemCount;
    for (const Text& text : more.inferences) {
        if (std::ranges::find(all.inferences, text) == all.inferences.end()) {
            all.inferences.push_back(text);
        }
    }
}

void append(Run& all, const Run& more)
{
    appendFacts(all, more);
    for (std::size_t file = 0; file < more.files.size(); ++file) {
        all.files.push_back(more.files[file]);
        all.firstRecordOfFile.push_back(static_cast<std::int64_t>(all.size()) + more.firstRecordOfFile[file]);
        all.firstTimerOfFile.push_back(static_cast<std::int64_t>(all.timers.size()) + more.firstTimerOfFile[file]);
        all.firstStepOfFile.push_back(static_cast<std::int64_t>(all.steps.size()) + more.firstStepOfFile[file]);
    }
    appendRecords(all, more);
    appendSteps(all.steps, more.steps);
    appendTimers(all, more);
    appendProblems(all, more);
    all.lineCount += more.lineCount;
    all.byteCount += more.byteCount;
}

} // namespace

Run joinRuns(std::span<const Run* const> runs, const LineFormats& formats)
{
    Run all;
    reserveRecords(all, runs);
    for (const Run* run : runs) {
        append(all, *run);
    }
    for (const LineFormat& format : formats.formats) {
        const auto isSeen
            = [&](const Run* run) { return std::ranges::find(run->formats, format.id) != run->formats.end(); };
        if (std::ranges::any_of(runs, isSeen)) {
            all.formats.push_back(format.id);
        }
    }
    return all;
}

} // namespace headroom
