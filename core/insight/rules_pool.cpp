// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

/// The largest allocated value of the rank of a record.
Bytes peakOfRank(const Situation& situation, std::int16_t rank)
{
    Bytes peak;
    for (const RankPhasePeak& one : situation.summary->rankPeaks) {
        if (one.rank == rank) {
            peak = std::max(peak, Bytes{situation.run->allocatedBytes[one.record]});
        }
    }
    return peak;
}

Finding ofPieces(const Situation& situation, Bytes reserved, Bytes allocated)
{
    Finding finding;
    finding.id = "pool-in-pieces";
    const bool isNearlyAll = situation.footprint != nullptr && situation.footprint->capacity
        && reserved.value > situation.footprint->capacity->value / 10 * 9;
    finding.severity = isNearlyAll ? Severity::Warning : Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "%1 of the %2 reserved are beyond any peak in the log"),
                         {formatGib(reserved - allocated, 1), formatGib(reserved, 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "The pool keeps what it once had, so either a moment that the log does not show needed it, or the free pieces "
        "were too small for what was asked: fragmentation, as tensors of changing sizes make it. Segments that can "
        "grow avoid that (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True).")};
    if (situation.plan != nullptr && !situation.plan->implementation.expandableSegments.value) {
        finding.mend = mendOf(situation, Text{HEADROOM_TR("core", "Let the allocator's segments grow")},
                              {{"implementation.expandable_segments", "true"}});
    }
    return finding;
}

Finding ofRetention(Bytes reserved, Bytes allocated)
{
    Finding finding;
    finding.id = "reserved-above-allocated";
    finding.severity = Severity::Note;
    finding.title = Text{HEADROOM_TR("core", "Reserved exceeds allocated by %1"), {formatGib(reserved - allocated, 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "The caching allocator keeps blocks for reuse. That is normal, no leak, and no sign that recompute is "
        "off: judge recompute by the allocated peak.")};
    return finding;
}

} // namespace

void reservedAboveAllocated(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || !situation.summary->reservedPeak || !situation.summary->peak) {
        return;
    }
    const Run& run = *situation.run;
    const std::size_t at = *situation.summary->reservedPeak;
    const Bytes reserved{run.reservedBytes[at]};
    const Bytes allocated = peakOfRank(situation, run.rank[at]);
    const Bytes gap = reserved - allocated;
    // Rounding to segments alone leaves a few hundred MiB.
    if (allocated.value <= 0 || gap < gib(1)
        || static_cast<double>(gap.value) < 0.05 * static_cast<double>(allocated.value)) {
        return;
    }
    // Normal retention stays below a sixth of the pool; a quarter is worth a setting.
    const bool isInPieces = gap.value > reserved.value / 4;
    Finding finding = isInPieces ? ofPieces(situation, reserved, allocated) : ofRetention(reserved, allocated);
    finding.evidence.push_back(
        {Text{HEADROOM_TR("core", "step %1: %2 reserved"), {std::to_string(run.step[at]), formatGib(reserved)}},
         run.files[run.record(at).file], run.line[at]});
    findings.push_back(std::move(finding));
}

} // namespace headroom
