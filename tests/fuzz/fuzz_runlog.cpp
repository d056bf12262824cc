// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a log: no crash, columns of one length, and the same Run wherever pieces and windows meet. The first
// byte chooses their size.
#include "runlog/log_arguments.h"
#include "runlog/out_of_memory.h"
#include "runlog/read_pieces.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace headroom;

namespace {

void require(bool holds)
{
    if (!holds) {
        std::abort();
    }
}

bool sameFacts(const Run& a, const Run& b)
{
    return std::ranges::equal(a.facts, b.facts, [](const LogFact& x, const LogFact& y) {
        return x.line == y.line && x.format == y.format && x.rank == y.rank && x.fields.size() == y.fields.size();
    });
}

bool sameColumns(const Run& a, const Run& b)
{
    return a.step == b.step && a.phase == b.phase && a.rank == b.rank && a.allocatedBytes == b.allocatedBytes
        && a.reservedBytes == b.reservedBytes && a.line == b.line && a.stepSeconds.records == b.stepSeconds.records
        && a.tokensPerSecond.values == b.tokensPerSecond.values && a.loss.records == b.loss.records
        && a.currentBytes.records == b.currentBytes.records && a.steps.step == b.steps.step
        && a.steps.line == b.steps.line && sameFacts(a, b) && a.formats == b.formats && a.phaseNames == b.phaseNames
        && a.lineCount == b.lineCount && a.problems == b.problems && a.problemCount == b.problemCount;
}

void checkInvariants(const Run& run)
{
    const std::size_t size = run.size();
    require(run.phase.size() == size && run.rank.size() == size && run.allocatedBytes.size() == size
            && run.line.size() == size && (run.reservedBytes.empty() || run.reservedBytes.size() == size));
    for (std::size_t i = 0; i < size; ++i) {
        const Record record = run.record(i);
        require(record.phase < run.phaseNames.size() && record.rank >= -1);
        require(record.allocated.value >= 0 && record.allocated.value <= (std::int64_t{1} << 50));
        require(record.line >= 1 && record.line <= run.lineCount);
        require(i == 0 || run.line[i - 1] <= run.line[i]);
    }
    require(run.problems.size() <= Run::maxProblems);
    const auto measured = static_cast<std::size_t>(
        std::ranges::count_if(run.allocatedBytes, [](std::int64_t bytes) { return bytes != Run::noAllocated; }));
    require(run.largest(3).size() == std::min<std::size_t>(measured, 3));
    static_cast<void>(outOfMemoryOf(run));
    static_cast<void>(argumentsOf(run));
    static_cast<void>(parametersOf(run));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size)
{
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Run whole = readLogText(text, "fuzz.log");
    checkInvariants(whole);
    const std::int64_t border = 1 + data[0];
    const Run pieces
        = readTextInPieces(text, "fuzz.log", {.chunk = border * 3, .window = border, .tail = 1 + border / 7});
    require(sameColumns(whole, pieces));
    return 0;
}
