// SPDX-License-Identifier: GPL-3.0-or-later
#include "json.h"

#include "plan/fields.h"

#include <fmt/format.h>

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
    Json json{{"label", mend.label.english()}, {"edits", Json::object()}};
    for (const PlanEdit& edit : mend.edits) {
        json["edits"][edit.field] = edit.value;
    }
    json["predicted_peak_bytes"] = mend.predictedPeak ? Json(mend.predictedPeak->value) : Json(nullptr);
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
    return Json{{"stage", stage.stage},
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
    Json json{{"max_bytes", record.allocated.value},
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
