// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "wording.h"

#include "config/export_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    PlanOptions plan;
    std::string format;
    std::string output;
    bool asJson = false;
};

Result<const ConfigFormat*> formatNamed(const std::string& id, const ConfigFormats& formats)
{
    std::vector<std::string> known;
    for (const ConfigFormat* format : exportFormats(formats)) {
        if (format->id == id) {
            return format;
        }
        known.push_back(format->id);
    }
    return failure(Text{HEADROOM_TR("core", "no file of the format “%1” can be written; there are %2"),
                        {id, fmt::format("{}", fmt::join(known, ", "))}});
}

Json fieldsJson(const std::vector<FieldDifference>& fields)
{
    Json json = Json::array();
    for (const FieldDifference& field : fields) {
        json.push_back({{"field", field.key}, {"plan", field.before}, {"file", field.after}});
    }
    return json;
}

void printFields(const PlanExport& exported, const ConfigFormat& format)
{
    for (const FieldDifference& field : exported.omitted) {
        const std::string instead = field.after.empty() ? say(HEADROOM_TR("cli", "nothing")) : field.after;
        fmt::print(stderr, "{}\n",
                   say(HEADROOM_TR("cli", "not said: %1 = %2 (%3 means %4)"),
                       {field.key, field.before, format.title, instead}));
    }
    for (const FieldDifference& field : exported.assumed) {
        fmt::print(stderr, "{}\n",
                   say(HEADROOM_TR("cli", "assumed: %1 = %2 (by %3, the config does not say)"),
                       {field.key, field.before, format.title}));
    }
}

int write(const Options& options, const PlanExport& exported, const ConfigFormat& format)
{
    if (!options.output.empty()) {
        const auto saved = ConfigDocument::parse(exported.bytes, exported.name).and_then([&](const auto& document) {
            return document.save(options.output);
        });
        if (!saved) {
            return fail(saved.error());
        }
    }
    if (options.asJson) {
        printJson({{"schema", "headroom.export/1"},
                   {"format", format.id},
                   {"text", exported.bytes},
                   {"omitted", fieldsJson(exported.omitted)},
                   {"assumed", fieldsJson(exported.assumed)}});
    } else {
        if (options.output.empty()) {
            std::fwrite(exported.bytes.data(), 1, exported.bytes.size(), stdout);
        }
        printFields(exported, format);
    }
    return exported.omitted.empty() ? Holds : DoesNotHold;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto format = formatNamed(options.format, knowledge.formats);
    if (!format) {
        return fail(format.error());
    }
    const auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return fail(inputs.error());
    }
    printProblems(inputs->problems);
    const std::string heading = exportHeading(nameOf(options.plan));
    const auto exported = exportPlan(inputs->plan, **format, knowledge.catalog, "config", heading);
    return exported ? write(options, *exported, **format) : fail(exported.error());
}

} // namespace

void addExport(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand("export", say(HEADROOM_TR("cli", "write the config in another format")));
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    command
        ->add_option("--to", options->format,
                     say(HEADROOM_TR("cli", "format of the new file: base-yaml, megatron-args, deepspeed-json, …")))
        ->required();
    command->add_option("-o,--output", options->output,
                        say(HEADROOM_TR("cli", "write the new file here; otherwise it is printed")));
    command->add_flag("--json", options->asJson, say(HEADROOM_TR("cli", "print JSON")));
    command->footer(say(HEADROOM_TR("cli", "Exit code 1: the format has no words for some values; they are listed.")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
