// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "report.h"
#include "wording.h"

#include "config/file_bytes.h"
#include "insight/report.h"
#include "replay/replay.h"
#include "runlog/read_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    PlanOptions plan;
    std::string output;
};

std::string today()
{
    const std::time_t now = std::time(nullptr);
    return fmt::format("{:%Y-%m-%d}", fmt::localtime(now));
}

std::vector<std::string> commandsOf(const Options& options)
{
    std::string estimate = "headroom-cli estimate";
    for (const std::string& config : options.plan.configs) {
        estimate += " " + shellWord(config);
    }
    const auto add = [&estimate](const char* option, const std::string& value) {
        estimate += value.empty() ? "" : fmt::format(" {} {}", option, shellWord(value));
    };
    add("--model", options.plan.model);
    for (const std::string& setting : options.plan.settings) {
        add("--set", setting);
    }
    add("--gpu", options.plan.gpu);
    add("--capacity", options.plan.capacity);
    add("--world", options.plan.world > 0 ? std::to_string(options.plan.world) : "");
    std::vector<std::string> commands{estimate};
    if (!options.plan.log.empty()) {
        commands.push_back("headroom-cli log " + shellWord(options.plan.log));
    }
    return commands;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return fail(inputs.error());
    }
    const TrainingPlan& original = inputs->original ? *inputs->original : inputs->plan;
    printProblems(inputs->problems);
    Footprint footprint;
    if (const auto done = replay(inputs->plan, inputs->calibration, footprint); !done) {
        return fail(done.error());
    }
    const Run* const log = inputs->run ? &*inputs->run : nullptr;
    const RunSummary summary = log != nullptr ? summarise(*log) : RunSummary{};
    Situation situation;
    situation.plan = &inputs->plan;
    situation.original = &original;
    situation.footprint = &footprint;
    situation.withoutEffect = inputs->withoutEffect;
    situation.calibration = inputs->calibration;
    situation.estimator = estimateInstantly;
    situation.exact = replayWithin;
    situation.lacking = lackingOf(*inputs);
    if (log != nullptr) {
        situation.run = log;
        situation.summary = &summary;
    }
    ReportContent content;
    content.title = nameOf(options.plan) + (options.plan.log.empty() ? "" : ", " + options.plan.log);
    content.date = today();
    content.program = "headroom-cli " HEADROOM_VERSION;
    content.verdict = Text{"%1", {verdictText(footprint)}};
    content.plan = &inputs->plan;
    content.original = &original;
    content.footprint = &footprint;
    const bool hasPeaks = log != nullptr && !log->isEmpty();
    content.run = hasPeaks ? log : nullptr;
    content.summary = hasPeaks ? &summary : nullptr;
    content.findings = diagnose(situation);
    Footprint recipe; // whose formulas these are
    if (estimate(inputs->plan, inputs->calibration, recipe)) {
        content.working = explain(inputs->plan, inputs->calibration, recipe, recipe.fullestStage);
    }
    content.commands = commandsOf(options);
    const bool isHtml = options.output.ends_with(".html") || options.output.ends_with(".htm");
    content.language = language();
    const std::string text = isHtml ? reportHtml(content, inOwnWords) : reportMarkdown(content, inOwnWords);
    if (options.output.empty()) {
        fmt::print("{}", text);
    } else if (const auto written = writeFileAtomically(options.output, text); !written) {
        return fail(written.error());
    }
    return footprint.fits() == false ? DoesNotHold : Holds;
}

} // namespace

void addReport(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "report", say(HEADROOM_TR("cli", "everything about a run as one page: HTML with charts, or Markdown")));
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    command->add_option("--log", options->plan.log,
                        say(HEADROOM_TR("cli", "the log of the run, or a folder of per-rank logs")));
    command->add_option("-o,--output", options->output,
                        say(HEADROOM_TR("cli", "file to write, .html or .md; Markdown to the terminal without")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
