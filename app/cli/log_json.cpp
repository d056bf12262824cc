// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_report.h"

#include "insight/calibrate.h"
#include "runlog/device_mesh.h"
#include "runlog/log_arguments.h"
#include "runlog/out_of_memory.h"

#include <cmath>

namespace headroom::cli {

namespace {

Json bytesOrNull(const std::optional<Bytes>& bytes)
{
    return bytes ? Json(bytes->value) : Json(nullptr);
}

const char* nameOfCause(OutOfMemoryCause cause)
{
    switch (cause) {
    case OutOfMemoryCause::Shortage:
        return "shortage";
    case OutOfMemoryCause::Fragmentation:
        return "fragmentation";
    case OutOfMemoryCause::OutsideAllocator:
        return "outside_allocator";
    case OutOfMemoryCause::GiantBlock:
        return "giant_block";
    case OutOfMemoryCause::Limit:
        return "limit";
    case OutOfMemoryCause::Host:
        return "host";
    case OutOfMemoryCause::Unknown:
        break;
    }
    return "unknown";
}

Json outOfMemoryJson(const LogReport& report)
{
    Json list = Json::array();
    for (const OutOfMemory& oom : report.outOfMemory) {
        Json blocks = Json::array();
        if (oom.requested && report.plan) {
            for (const Text& block : blocksOfSize(*oom.requested, *report.plan)) {
                blocks.push_back(block.english());
            }
        }
        list.push_back({{"file", report.run->files[oom.file]},
                        {"line", oom.line},
                        {"rank", oom.rank < 0 ? Json(nullptr) : Json(oom.rank)},
                        {"device", oom.device ? Json(*oom.device) : Json(nullptr)},
                        {"cause", nameOfCause(oom.cause)},
                        {"meaning", oom.meaning.english()},
                        {"phase", oom.phase ? Json(std::string(nameOf(*oom.phase))) : Json(nullptr)},
                        {"requested_bytes", bytesOrNull(oom.requested)},
                        {"capacity_bytes", bytesOrNull(oom.capacity)},
                        {"free_bytes", bytesOrNull(oom.free)},
                        {"allocated_bytes", bytesOrNull(oom.allocated)},
                        {"reserved_bytes", bytesOrNull(oom.reserved)},
                        {"process_bytes", bytesOrNull(oom.process)},
                        {"other_processes_bytes", bytesOrNull(oom.otherProcesses)},
                        {"limit_bytes", bytesOrNull(oom.limit)},
                        {"blocks_of_this_size", std::move(blocks)}});
    }
    return list;
}

Json meshJson(const Run& run)
{
    const auto mesh = deviceMeshOf(run);
    Json sizes = Json::object();
    for (const auto& [name, size] : mesh ? mesh->dimensions : decltype(mesh->dimensions){}) {
        sizes[name] = size;
    }
    return mesh ? std::move(sizes) : Json(nullptr);
}

Json argumentsJson(const LogReport& report)
{
    Json json = Json::object();
    for (const LogArgument& argument : report.arguments) {
        json[argument.key]
            = {{"value", argument.value}, {"file", report.run->files[argument.file]}, {"line", argument.line}};
    }
    return json;
}

Json parametersJson(const LogReport& report)
{
    Json list = Json::array();
    for (const LogParameters& parameters : parametersOf(*report.run)) {
        list.push_back({{"what", parameters.what},
                        {"count", parameters.count},
                        {"rank", parameters.rank < 0 ? Json(nullptr) : Json(parameters.rank)},
                        {"line", parameters.line}});
    }
    return list;
}

Json recordWithStage(const LogReport& report, std::size_t index)
{
    Json json = recordJson(*report.run, index);
    const auto stage = report.plan ? stageOfRank(*report.plan, report.run->rank[index]) : std::nullopt;
    json["stage"] = stage ? Json(*stage) : Json(nullptr);
    return json;
}

Json phasesJson(const LogReport& report)
{
    Json phases = Json::object();
    for (std::size_t phase = 0; phase < report.run->phaseNames.size(); ++phase) {
        if (const auto index = report.run->peak(static_cast<std::uint8_t>(phase))) {
            phases[report.run->phaseNames[phase]] = recordWithStage(report, *index);
        }
    }
    return phases;
}

Json numberOrNull(std::optional<double> number)
{
    return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

Json timersJson(const Run& run)
{
    Json timers = Json::array();
    for (const TimerSummary& timer : summarise(run.timers)) {
        timers.push_back({{"name", run.timerNames[timer.name]},
                          {"count", timer.rows},
                          {"median_seconds", timer.median},
                          {"longest_seconds", run.timers.seconds[timer.longest]},
                          {"step", run.timers.step[timer.longest]},
                          {"line", run.timers.line[timer.longest]}});
    }
    return timers;
}

} // namespace

Json logJson(const LogReport& report, const std::vector<Finding>& findings, std::size_t count)
{
    const Run& run = *report.run;
    Json top = Json::array();
    for (const std::size_t index : run.largest(count)) {
        Json record = recordWithStage(report, index);
        record["phase"] = run.phaseNames[run.phase[index]];
        top.push_back(std::move(record));
    }
    Json inferences = Json::array();
    for (const Text& inference : run.inferences) {
        inferences.push_back(inference.english());
    }
    const auto peakPhase = report.summary.peakPhase(run);
    return Json{{"schema", "headroom.log/1"},
                {"formats", run.formats},
                {"files", run.files},
                {"lines", run.lineCount},
                {"records", run.size()},
                {"phases", phasesJson(report)},
                {"peak_phase", peakPhase ? Json(std::string(nameOf(*peakPhase))) : Json(nullptr)},
                {"reserved_peak",
                 report.summary.reservedPeak ? recordWithStage(report, *report.summary.reservedPeak) : Json(nullptr)},
                {"top", std::move(top)},
                {"capacity_bytes", bytesOrNull(report.capacity)},
                {"out_of_memory", outOfMemoryJson(report)},
                {"arguments", argumentsJson(report)},
                {"device_mesh", meshJson(*report.run)},
                {"parameters", parametersJson(report)},
                {"steps",
                 {{"count", run.steps.size()},
                  {"median_step_seconds", numberOrNull(report.stepSeconds)},
                  {"median_tokens_per_second", numberOrNull(report.tokensPerSecond)},
                  {"last_loss", numberOrNull(report.lastLoss)}}},
                {"timers", timersJson(run)},
                {"inferred", std::move(inferences)},
                {"findings", toJson(findings)},
                {"problem_count", run.problemCount},
                {"problems", toJson(run.problems)}};
}

} // namespace headroom::cli
