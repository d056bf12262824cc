// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "table.h"
#include "wording.h"

#include "plan/field_kinds.h"
#include "runlog/line_format.h"
#include "units/number.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>

namespace headroom::cli {

namespace {

int listModels(bool asJson)
{
    const Knowledge knowledge;
    printProblems(knowledge.catalog.problems);
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "preset")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "model")), Table::Align::Left);
    for (const char* title : {HEADROOM_TR("cli", "layers"), HEADROOM_TR("cli", "hidden"), HEADROOM_TR("cli", "heads"),
                              HEADROOM_TR("cli", "vocabulary"), HEADROOM_TR("cli", "parameters")}) {
        table.addColumn(say(title));
    }
    Json json = Json::array();
    for (const ModelPreset& preset : knowledge.catalog.models) {
        const ModelPlan& model = preset.plan.model;
        table.addRow({preset.id, preset.title, formatCount(model.layers.value), formatCount(model.hidden.value),
                      formatCount(model.heads.value), formatCount(model.vocab.value),
                      formatCount(preset.publishedParameters)});
        json.push_back({{"id", preset.id},
                        {"title", preset.title},
                        {"parameters", preset.publishedParameters},
                        {"source", preset.source},
                        {"plan", toJson(preset.plan)}});
    }
    if (asJson) {
        printJson({{"schema", "headroom.models/1"}, {"models", std::move(json)}});
    } else {
        fmt::print("{}", table.text());
    }
    return Holds;
}

int listGpus(bool asJson)
{
    const Knowledge knowledge;
    printProblems(knowledge.catalog.problems);
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "id")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "GPU")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "memory")));
    table.addColumn(say(HEADROOM_TR("cli", "architecture")), Table::Align::Left);
    Json json = Json::array();
    for (const Gpu& gpu : knowledge.catalog.gpus) {
        table.addRow({gpu.id, gpu.title, formatGib(gpu.capacity), gpu.architecture});
        json.push_back({{"id", gpu.id},
                        {"title", gpu.title},
                        {"capacity_bytes", gpu.capacity.value},
                        {"architecture", gpu.architecture}});
    }
    if (asJson) {
        printJson({{"schema", "headroom.gpus/1"}, {"gpus", std::move(json)}});
    } else {
        fmt::print("{}", table.text());
    }
    return Holds;
}

int listFormats(bool asJson)
{
    const Knowledge knowledge;
    printProblems(knowledge.formats.problems);
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "config format")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "title")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "keys")));
    Json json = Json::array();
    for (const ConfigFormat& format : knowledge.formats.formats) {
        table.addRow({format.id, format.title, formatCount(static_cast<std::int64_t>(format.keys.size()))});
        json.push_back({{"id", format.id}, {"title", format.title}, {"keys", format.keys.size()}});
    }
    const LineFormats lines = LineFormats::load(userFolder());
    printProblems(lines.problems);
    Table logs;
    logs.addColumn(say(HEADROOM_TR("cli", "log format")), Table::Align::Left);
    logs.addColumn(say(HEADROOM_TR("cli", "framework")), Table::Align::Left);
    Json logJson = Json::array();
    for (const LineFormat& format : lines.formats) {
        if (!format.isInner && !format.anchors.empty()) {
            logs.addRow({format.id, format.framework});
        }
        logJson.push_back({{"id", format.id}, {"framework", format.framework}});
    }
    if (asJson) {
        printJson({{"schema", "headroom.formats/1"}, {"config", std::move(json)}, {"log", std::move(logJson)}});
    } else {
        fmt::print("{}\n{}", table.text(), logs.text());
    }
    return Holds;
}

std::string takenBy(const FieldKind& field)
{
    using enum FieldKind::Takes;
    switch (field.takes) {
    case WholeNumber:
        return say(HEADROOM_TR("cli", "whole number"));
    case Number:
        return say(HEADROOM_TR("cli", "number"));
    case YesOrNo:
        return say(HEADROOM_TR("cli", "true or false"));
    case Size:
        return say(HEADROOM_TR("cli", "size, as in 80GiB"));
    case List:
        return say(HEADROOM_TR("cli", "words, separated by commas"));
    case Word:
        break;
    }
    return field.words.empty() ? say(HEADROOM_TR("cli", "word")) : fmt::format("{}", fmt::join(field.words, ", "));
}

/// For programs.
const char* idOf(FieldKind::Takes takes)
{
    constexpr std::array ids{"whole_number", "number", "boolean", "bytes", "word", "list"};
    return ids[static_cast<std::size_t>(takes)];
}

int listFields(const std::string& part, bool asJson)
{
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "field")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "unless stated")), Table::Align::Left);
    table.addColumn(say(HEADROOM_TR("cli", "takes")), Table::Align::Left);
    Json json = Json::array();
    for (const FieldKind& field : fieldKinds()) {
        if (field.key.find(part) == std::string::npos) {
            continue;
        }
        table.addRow({field.key, field.standard, takenBy(field)});
        json.push_back({{"field", field.key}, {"takes", idOf(field.takes)}, {"words", field.words}});
        json.back()["default"] = field.standard.empty() ? Json() : Json(field.standard);
    }
    if (json.empty()) {
        const std::string nearest = nearestField(part);
        fmt::print(stderr, "headroom-cli: {}\n",
                   nearest.empty()
                       ? say(HEADROOM_TR("cli", "no field has “%1” in its name"), {part})
                       : say(HEADROOM_TR("cli", "no field has “%1” in its name; did you mean %2?"), {part, nearest}));
        return BadInput;
    }
    if (asJson) {
        printJson({{"schema", "headroom.fields/1"}, {"fields", std::move(json)}});
    } else {
        fmt::print("{}", table.text());
    }
    return Holds;
}

void addFields(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "fields", say(HEADROOM_TR("cli", "the fields of a plan, which --set and set take, and their values")));
    const auto part = std::make_shared<std::string>();
    const auto asJson = std::make_shared<bool>(false);
    command->add_option("PART", *part,
                        say(HEADROOM_TR("cli", "only those that have this in their name, as in parallel.")));
    command->add_flag("--json", *asJson, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([part, asJson, &exitCode] { exitCode = listFields(*part, *asJson); });
}

void addList(CLI::App& app, int& exitCode, const char* name, const char* description, int (*list)(bool))
{
    CLI::App* command = app.add_subcommand(name, say(description));
    const auto asJson = std::make_shared<bool>(false);
    command->add_flag("--json", *asJson, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([asJson, list, &exitCode] { exitCode = list(*asJson); });
}

} // namespace

void addCatalogs(CLI::App& app, int& exitCode)
{
    addList(app, exitCode, "models", HEADROOM_TR("cli", "the model presets that ship, and your own"), listModels);
    addList(app, exitCode, "gpus", HEADROOM_TR("cli", "the GPUs that are known, and your own"), listGpus);
    addFields(app, exitCode);
    addList(app, exitCode, "formats", HEADROOM_TR("cli", "the config and log formats that are read"), listFormats);
}

} // namespace headroom::cli
