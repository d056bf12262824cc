// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/rule.h"

#include "insight/calibrate.h"
#include "plan/fields.h"
#include "runlog/out_of_memory.h"
#include "units/number.h"

#include <algorithm>

namespace headroom {

namespace {

std::string fileOf(const Run& run, std::uint16_t file)
{
    return file < run.files.size() ? run.files[file] : std::string{};
}

Text titleOf(const OutOfMemory& message)
{
    const std::string tried = message.requested ? formatBytes(*message.requested) : std::string{};
    if (message.rank >= 0 && message.requested) {
        return Text{HEADROOM_TR("core", "Out of memory on rank %1, asking for %2"),
                    {std::to_string(message.rank), tried}};
    }
    return message.requested ? Text{HEADROOM_TR("core", "Out of memory, asking for %1"), {tried}}
                             : Text{HEADROOM_TR("core", "Out of memory")};
}

/// What helps depends on why it failed: only a shortage is mended by a smaller peak.
std::optional<Mend> mendFor(const OutOfMemory& message, const Situation& situation)
{
    const bool isShort = message.cause == OutOfMemoryCause::Shortage || message.cause == OutOfMemoryCause::GiantBlock
        || message.cause == OutOfMemoryCause::Unknown;
    if (situation.plan == nullptr || !isShort) {
        return std::nullopt;
    }
    auto mend = message.phase == Phase::Optimizer ? doubleStages(situation) : halveMicroBatch(situation);
    return mend ? mend : recomputeFully(situation);
}

Evidence stageEvidence(const Situation& situation, std::size_t stage)
{
    const StageFootprint& estimated = situation.footprint->stages[stage];
    return {Text{HEADROOM_TR("core", "stage %1, estimated: %2 allocated at its peak in %3"),
                 {std::to_string(stage), formatGib(estimated.peakAllocated), std::string(nameOf(estimated.peakPhase))}},
            {},
            0};
}

bool isStatedHere(const Origin& origin)
{
    return origin.kind == OriginKind::ConfigFile || origin.kind == OriginKind::CommandLine;
}

} // namespace

void outOfMemoryExplained(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr) {
        return;
    }
    const std::vector<OutOfMemory> messages = outOfMemoryOf(*situation.run);
    if (messages.empty()) {
        return;
    }
    // The others follow from the first: a rank that is gone takes its partners along.
    const OutOfMemory& message = messages.front();
    Finding finding;
    finding.id = "out-of-memory";
    finding.severity = Severity::Error;
    finding.title = titleOf(message);
    finding.explanation
        = message.meaning.isEmpty() ? Text{HEADROOM_TR("core", "The message says no amounts.")} : message.meaning;
    finding.evidence.push_back(
        {message.phase ? Text{HEADROOM_TR("core", "it failed in %1"), {std::string(nameOf(*message.phase))}}
                       : Text{HEADROOM_TR("core", "the message")},
         fileOf(*situation.run, message.file), message.line});
    const TrainingPlan* plan = situation.original != nullptr ? situation.original : situation.plan;
    if (plan != nullptr && message.requested) {
        for (Text& block : blocksOfSize(*message.requested, *plan)) {
            finding.evidence.push_back({std::move(block), {}, 0});
        }
    }
    if (plan != nullptr && situation.footprint != nullptr && message.rank >= 0) {
        const auto stage = stageOfRank(*plan, message.rank);
        if (stage && *stage < situation.footprint->stages.size()) {
            finding.evidence.push_back(stageEvidence(situation, *stage));
        }
    }
    finding.mend = mendFor(message, situation);
    findings.push_back(std::move(finding));
}

void memoryOutsideAllocator(const Situation& situation, std::vector<Finding>& findings)
{
    if (situation.run == nullptr || situation.run->deviceBytes.values.empty()) {
        return;
    }
    const Run& run = *situation.run;
    std::optional<std::size_t> widest; // place in deviceBytes
    std::int64_t gap = 0;
    for (std::size_t i = 0; i < run.deviceBytes.records.size(); ++i) {
        const std::size_t record = run.deviceBytes.records[i];
        const Record values = run.record(record);
        if (values.reserved && run.deviceBytes.values[i] - values.reserved->value > gap) {
            gap = run.deviceBytes.values[i] - values.reserved->value;
            widest = i;
        }
    }
    // A context with its kernels and the buffers of a few communicators stay below this.
    if (!widest || gap < gib(3).value) {
        return;
    }
    const std::size_t record = run.deviceBytes.records[*widest];
    Finding finding;
    finding.id = "memory-outside-allocator";
    finding.severity = Severity::Warning;
    finding.title
        = Text{HEADROOM_TR("core", "%1 of the GPU are taken outside PyTorch's allocator"), {formatGib(Bytes{gap}, 1)}};
    finding.explanation = Text{HEADROOM_TR(
        "core",
        "A CUDA context with its kernels takes 0.4 to 0.6 GiB, NCCL some hundred MiB for every communicator. Look "
        "for other processes on this GPU (nvidia-smi), a context on GPU 0 for every rank, or CUDA graphs and "
        "libraries with pools of their own.")};
    finding.evidence.push_back(
        {Text{HEADROOM_TR("core", "%1 taken on the device, %2 reserved"),
              {formatGib(Bytes{run.deviceBytes.values[*widest]}), formatGib(*run.record(record).reserved)}},
         fileOf(run, run.record(record).file), run.record(record).line});
    findings.push_back(std::move(finding));
}

void argumentsDiffer(const Situation& situation, std::vector<Finding>& findings)
{
    const TrainingPlan* plan = situation.original != nullptr ? situation.original : situation.plan;
    if (plan == nullptr || situation.logPlan == nullptr) {
        return;
    }
    for (const FieldDifference& one : difference(*plan, *situation.logPlan)) {
        // Only what both say: a default on one side is no contradiction.
        const bool bothSay = !one.before.empty() && !one.after.empty() && isStatedHere(fieldOrigin(*plan, one.key))
            && fieldOrigin(*situation.logPlan, one.key).kind == OriginKind::Log;
        if (!bothSay || one.key == "framework" || one.key == "model.name") {
            continue;
        }
        Finding finding;
        finding.id = "config-is-not-what-ran";
        finding.severity = Severity::Warning;
        finding.title
            = Text{HEADROOM_TR("core", "The run had %1 = %2, the config says %3"), {one.key, one.after, one.before}};
        finding.explanation = Text{HEADROOM_TR(
            "core",
            "The arguments that the log lists are what took effect. A flag on the command line, a later file or a "
            "rule of the framework overrode the config.")};
        finding.evidence = {evidenceOf(*plan, one.key), evidenceOf(*situation.logPlan, one.key)};
        if (situation.plan != nullptr) {
            finding.mend = mendOf(situation, Text{HEADROOM_TR("core", "Take the log's %1"), {one.after}},
                                  {{one.key, one.after}});
        }
        findings.push_back(std::move(finding));
    }
}

} // namespace headroom
