// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"
#include "table.h"
#include "wording.h"

#include "insight/loss_files.h"
#include "runlog/log_arguments.h"
#include "units/number.h"

#include <fmt/format.h>

#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    std::vector<std::string> files;
    std::string firstConfig, secondConfig;
    double tolerance = 0;
    std::int64_t window = 30;
    bool json = false;
};

/// Of the config, or else of the arguments that a log lists.
Result<std::optional<TrainingPlan>> openPlan(const std::string& config, const Run& log, const Knowledge& knowledge)
{
    if (config.empty()) {
        auto logged = planOfArguments(log, knowledge.formats, knowledge.catalog);
        return logged ? std::optional(std::move(*logged)) : std::nullopt;
    }
    PlanOptions options;
    options.configs = {config};
    auto inputs = openInputs(options, knowledge);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    return std::optional(std::move(inputs->plan));
}

void printForPeople(const LossSeries& first, const LossSeries& second, const LossComparison& comparison,
                    std::int64_t window, const std::vector<Finding>& findings)
{
    for (const LossSeries* series : {&first, &second}) {
        fmt::print("{}\n",
                   say(HEADROOM_TR("cli", "%1: %2 steps"), {series->name, formatCount(std::ssize(series->steps))}));
    }
    const auto number = [](double value) { return fmt::format("{:.6g}", value); };
    Table table;
    table.addColumn(say(HEADROOM_TR("cli", "common steps")), Table::Align::Left);
    table.addColumn(formatCount(std::ssize(comparison.steps)));
    table.addRow({say(HEADROOM_TR("cli", "largest difference, first %1 steps"), {std::to_string(window)}),
                  number(comparison.largestOfFirst)});
    table.addRow({say(HEADROOM_TR("cli", "largest difference (step %1)"), {std::to_string(comparison.largestStep)}),
                  number(comparison.largest)});
    table.addRow({say(HEADROOM_TR("cli", "tolerance")), number(comparison.tolerance)});
    table.addRow({say(HEADROOM_TR("cli", "change of the difference per step")),
                  fmt::format("{:+.3g}", comparison.trendPerStep)});
    table.addRow({say(HEADROOM_TR("cli", "departs at step")),
                  comparison.departsAt ? formatCount(*comparison.departsAt) : say(HEADROOM_TR("cli", "never"))});
    fmt::print("\n{}\n{}", table.text(), findingsText(findings));
}

Json lossJson(const LossComparison& comparison, const std::vector<Finding>& findings)
{
    return Json{{"schema", "headroom.loss/1"},
                {"verdict", nameOf(comparison.verdict)},
                {"holds", comparison.holds()},
                {"common_steps", comparison.steps.size()},
                {"tolerance", comparison.tolerance},
                {"largest_difference", comparison.largest},
                {"largest_difference_step", comparison.largestStep},
                {"largest_difference_first_steps", comparison.largestOfFirst},
                {"trend_per_step", comparison.trendPerStep},
                {"departs_at_step", comparison.departsAt ? Json(*comparison.departsAt) : Json(nullptr)},
                {"factor", comparison.factor},
                {"shift_steps", comparison.shift},
                {"findings", toJson(findings)}};
}

int run(const Options& options)
{
    std::vector<Problem> problems;
    Run firstLog, secondLog;
    const auto first = readLosses(options.files[0], problems, &firstLog);
    if (!first) {
        return fail(first.error());
    }
    const auto second = readLosses(options.files[1], problems, &secondLog);
    if (!second) {
        return fail(second.error());
    }
    const Knowledge knowledge;
    const auto firstPlan = openPlan(options.firstConfig, firstLog, knowledge);
    const auto secondPlan = openPlan(options.secondConfig, secondLog, knowledge);
    if (!firstPlan || !secondPlan) {
        return fail(firstPlan ? secondPlan.error() : firstPlan.error());
    }
    LossOptions checks;
    checks.window = options.window;
    if (options.tolerance > 0) {
        checks.tolerance = options.tolerance;
    }
    const auto comparison = compareLosses(*first, *second, checks);
    if (!comparison) {
        return fail(comparison.error());
    }
    const auto planOf = [](const std::optional<TrainingPlan>& plan) { return plan ? &*plan : nullptr; };
    const std::vector<Finding> findings
        = lossFindings(*first, *second, *comparison, planOf(*firstPlan), planOf(*secondPlan));
    if (options.json) {
        printJson(lossJson(*comparison, findings));
    } else {
        printProblems(problems);
        printForPeople(*first, *second, *comparison, options.window, findings);
    }
    return comparison->holds() ? Holds : DoesNotHold;
}

} // namespace

void addLoss(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "loss", say(HEADROOM_TR("cli", "whether two runs' losses agree, and if not, what sets them apart")));
    const auto options = std::make_shared<Options>();
    command
        ->add_option("FILE", options->files,
                     say(HEADROOM_TR("cli", "two files of JSON lines, {\"step\": 1, \"loss\": 2.5}, or logs")))
        ->required()
        ->expected(2);
    command
        ->add_option("--tolerance", options->tolerance,
                     say(HEADROOM_TR("cli", "largest difference that is still alike; derived unless given")))
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--first", options->window,
                     say(HEADROOM_TR("cli", "how many of the first common steps are judged by themselves")))
        ->capture_default_str()
        ->check(CLI::Range(2, 1000000));
    command->add_option(
        "--config", options->firstConfig,
        say(HEADROOM_TR("cli", "config of the first run, to look for the cause; a log's own arguments without")));
    command->add_option("--other-config", options->secondConfig, say(HEADROOM_TR("cli", "config of the second run")));
    command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
