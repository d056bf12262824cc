// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "table.h"
#include "wording.h"

#include "runlog/line_format.h"
#include "units/number.h"

#include <fmt/format.h>

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
    addList(app, exitCode, "formats", HEADROOM_TR("cli", "the config and log formats that are read"), listFormats);
}

} // namespace headroom::cli
