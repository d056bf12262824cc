// SPDX-License-Identifier: GPL-3.0-or-later
#include "json.h"

#include "plan/fields.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace headroom::cli {

namespace {

template <class T> Json valueJson(const T& value)
{
    if constexpr (std::is_enum_v<T>) {
        return std::string(nameOf(value));
    } else {
        return value;
    }
}

const char* nameOfSeverity(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return "error";
    case Severity::Warning:
        return "warning";
    case Severity::Note:
        break;
    }
    return "note";
}

Json toJson(const Mend& mend)
{
    Json json{{"label", mend.words(&Text::english)}, {"edits", Json::object()}};
    for (const PlanEdit& edit : mend.edits) {
        json["edits"][edit.field] = edit.value;
    }
    json["predicted_peak_bytes"] = mend.predictedPeak ? Json(mend.predictedPeak->value) : Json(nullptr);
    json["relative_step_time"] = mend.stepTime ? cli::toJson(*mend.stepTime) : Json(nullptr);
    return json;
}

Json toJson(const Evidence& evidence)
{
    Json json{{"text", evidence.text.english()}};
    if (!evidence.file.empty()) {
        json["file"] = evidence.file;
        json["line"] = evidence.line;
    }
    return json;
}

} // namespace

Json toJson(const TrainingPlan& plan)
{
    Json json = Json::object();
    forEachField(plan, [&](std::string_view key, const auto& field) {
        if (field.isKnown()) {
            json[std::string(key)] = Json{{"value", valueJson(field.value)}, {"origin", field.origin.english()}};
        }
    });
    return json;
}

Json toJson(const StageFootprint& stage)
{
    Json components = Json::object();
    for (int i = 0; i < componentCount; ++i) {
        const auto component = static_cast<Component>(i);
        components[std::string(nameOf(component)) + "_bytes"] = stage.component(component).value;
    }
    Json phases = Json::object();
    for (int i = 0; i < phaseCount; ++i) {
        const auto phase = static_cast<Phase>(i);
        phases[std::string(nameOf(phase))] = Json{{"allocated_bytes", stage.phase(phase).value}};
    }
    Json json{{"stage", stage.stage},
              {"first_layer", stage.firstLayer},
              {"layers", stage.layers},
              {"parameters", stage.parameters},
              {"in_flight", stage.inFlight},
              {"components", components},
              {"phases", phases},
              {"peak_phase", std::string(nameOf(stage.peakPhase))},
              {"steady_allocated_bytes", stage.steadyAllocated.value},
              {"first_step_peak_allocated_bytes", stage.firstStepPeakAllocated.value},
              {"peak_allocated_bytes", stage.peakAllocated.value},
              {"peak_reserved_bytes", stage.peakReserved.value},
              {"device_bytes", stage.device.value}};
    if (stage.intervals) {
        const auto add = [&json](const char* name, Interval interval) {
            json[fmt::format("{}_low_bytes", name)] = interval.low.value;
            json[fmt::format("{}_high_bytes", name)] = interval.high.value;
        };
        add("peak_allocated", stage.intervals->allocated);
        add("peak_reserved", stage.intervals->reserved);
        add("device", stage.intervals->device);
    }
    return json;
}

Json toJson(const TextbookFigures& textbook)
{
    return Json{{"block_parameters", textbook.blockParameters},
                {"parameters", textbook.parameters},
                {"static_bytes", textbook.staticState.value},
                {"activation_bytes", textbook.activations.value},
                {"in_flight", textbook.inFlight},
                {"k", textbook.k},
                {"peak_bytes", textbook.peak.value}};
}

Json toJson(const std::vector<UncertaintyReason>& reasons)
{
    constexpr std::array measures{"allocated", "reserved", "device"};
    Json json = Json::array();
    for (const UncertaintyReason& reason : reasons) {
        json.push_back({{"id", std::string(reason.id)},
                        {"text", reason.text.english()},
                        {"measure", measures[static_cast<std::size_t>(reason.measure)]},
                        {"below_bytes", reason.below.value},
                        {"above_bytes", reason.above.value},
                        {"is_range", reason.isRange}});
    }
    return json;
}

Json toJson(const std::vector<Assumption>& assumptions, std::size_t fullestStage)
{
    Json json = Json::array();
    for (const Assumption& assumption : assumptions) {
        Json alternatives = Json::array();
        for (const Alternative& alternative : assumption.alternatives) {
            Json changes = Json::array();
            for (const Bytes change : alternative.changes) {
                changes.push_back(change.value);
            }
            alternatives.push_back({{"value", alternative.value},
                                    {"peak_allocated_change_bytes", alternative.changes[fullestStage].value},
                                    {"stage_changes_bytes", std::move(changes)}});
        }
        json.push_back({{"field", std::string(assumption.field)},
                        {"taken", assumption.taken},
                        {"text", assumption.text.english()},
                        {"alternatives", std::move(alternatives)}});
    }
    return json;
}

Json toJson(const RelativeStepTime& time)
{
    Json parts = Json::object();
    for (int i = 0; i < stepPartCount; ++i) {
        parts[std::string(nameOf(static_cast<StepPart>(i)))] = time.changes[static_cast<std::size_t>(i)];
    }
    return Json{{"ratio", time.ratio}, {"gpus_ratio", time.gpus}, {"parts", std::move(parts)}};
}

Json toJson(const std::vector<Finding>& findings)
{
    Json json = Json::array();
    for (const Finding& finding : findings) {
        Json entry{{"id", finding.id},
                   {"severity", nameOfSeverity(finding.severity)},
                   {"title", finding.title.english()},
                   {"explanation", finding.explanation.english()},
                   {"evidence", Json::array()}};
        for (const Evidence& evidence : finding.evidence) {
            entry["evidence"].push_back(toJson(evidence));
        }
        entry["mend"] = finding.mend ? toJson(*finding.mend) : Json(nullptr);
        entry["alternatives"] = Json::array();
        for (const Mend& other : finding.alternatives) {
            entry["alternatives"].push_back(toJson(other));
        }
        json.push_back(std::move(entry));
    }
    return json;
}

Json toJson(const std::vector<Problem>& problems)
{
    Json json = Json::array();
    for (const Problem& problem : problems) {
        json.push_back({{"severity", nameOfSeverity(problem.severity)},
                        {"file", problem.file},
                        {"line", problem.line},
                        {"text", problem.text.english()}});
    }
    return json;
}

Json recordJson(const Run& run, std::size_t index)
{
    const Record record = run.record(index);
    Json json{{"max_bytes", run.hasAllocated(index) ? Json(record.allocated.value) : Json(nullptr)},
              {"step", record.step},
              {"line", record.line},
              {"rank", record.rank < 0 ? Json(nullptr) : Json(record.rank)},
              {"file", run.files[record.file]}};
    json["reserved_bytes"] = record.reserved ? Json(record.reserved->value) : Json(nullptr);
    return json;
}

void printJson(const Json& json)
{
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace headroom::cli
