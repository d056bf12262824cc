// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "compare_report.h"
#include "inputs.h"
#include "wording.h"

#include "insight/history.h"
#include "replay/replay.h"
#include "runlog/log_arguments.h"
#include "runlog/read_log.h"

#include <algorithm>
#include <memory>

namespace headroom::cli {

namespace {

constexpr int mostRuns = 1000;

struct Options
{
    std::vector<std::string> paths;
    std::vector<std::string> configs; ///< of the runs, in their order
    std::string afterConfig; ///< of the second, when it is named alone
    std::size_t reference = 0; ///< from 1; 0: none
    PlanOptions plan; ///< what all configs have in common: model, GPU, number of GPUs
    bool json = false;
};

Result<TrainingPlan> openPlan(const Options& options, const std::string& config, const Knowledge& knowledge)
{
    PlanOptions plan = options.plan;
    plan.configs = {config};
    auto inputs = openInputs(plan, knowledge);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    return std::move(inputs->plan);
}

bool isConfig(const std::string& path, const Knowledge& knowledge)
{
    return !std::filesystem::is_directory(path) && openConfig(path, knowledge.formats, knowledge.catalog).has_value();
}

/// A log with or without its config, or a config whose estimate stands for a log.
Result<HistoryRun> openRun(const Options& options, const std::string& path, const std::string& config,
                           const Knowledge& knowledge, std::vector<Problem>& problems)
{
    HistoryRun opened;
    if (config.empty() && isConfig(path, knowledge)) {
        auto plan = openPlan(options, path, knowledge);
        if (!plan) {
            return tl::unexpected(plan.error());
        }
        Footprint footprint;
        if (auto done = replay(*plan, {}, footprint); !done) {
            return tl::unexpected(done.error());
        }
        opened.figures = RunFigures::of(footprint, path);
        opened.plan = std::move(*plan);
        return opened;
    }
    const auto log = readLogs({path});
    if (!log) {
        return tl::unexpected(log.error());
    }
    problems.insert(problems.end(), log->problems.begin(), log->problems.end());
    if (log->isEmpty()) {
        return failure(Text{HEADROOM_TR("core", "neither a config nor a log with memory measurements")}, path, 0);
    }
    opened.figures = RunFigures::of(*log, summarise(*log));
    opened.figures.name = path;
    if (!config.empty()) {
        auto plan = openPlan(options, config, knowledge);
        if (!plan) {
            return tl::unexpected(plan.error());
        }
        opened.plan = std::move(*plan);
    } else if (auto logged = planOfArguments(*log, knowledge.formats, knowledge.catalog)) {
        opened.plan = std::move(*logged);
    }
    return opened;
}

int print(const Options& options, std::span<const HistoryRun> runs, const std::vector<Problem>& problems)
{
    if (!options.json) {
        printProblems(problems);
    }
    const auto hasNoEffect = [](const RunComparison& comparison) {
        return std::any_of(comparison.findings.begin(), comparison.findings.end(),
                           [](const Finding& finding) { return finding.id == "no-effect"; });
    };
    if (runs.size() == 2) {
        const auto planOf = [](const HistoryRun& one) { return one.plan ? &*one.plan : nullptr; };
        const RunComparison comparison
            = compareRuns(runs[0].figures, runs[1].figures, planOf(runs[0]), planOf(runs[1]));
        options.json ? printJson(comparisonJson(comparison)) : printComparison(comparison);
        return hasNoEffect(comparison) ? DoesNotHold : Holds;
    }
    const auto reference = options.reference > 0 ? std::optional(options.reference - 1) : std::nullopt;
    options.json ? printJson(historyJson(runs, reference)) : printHistory(runs, reference);
    const std::vector<HistoryStep> steps = historyOf(runs, reference);
    return std::any_of(steps.begin(), steps.end(),
                       [&](const HistoryStep& step) { return step.change && hasNoEffect(*step.change); })
        ? DoesNotHold
        : Holds;
}

int run(const Options& options)
{
    std::vector<std::string> configs = options.configs;
    if (!options.afterConfig.empty()) {
        configs.resize(std::max<std::size_t>(configs.size(), 2));
        configs[1] = options.afterConfig;
    }
    if (configs.size() > options.paths.size() || options.reference > options.paths.size()) {
        return fail(Problem{Severity::Error,
                            {},
                            0,
                            Text{HEADROOM_TR("core", "more configs, or a higher reference, than there are runs")}});
    }
    configs.resize(options.paths.size());
    const Knowledge knowledge;
    std::vector<Problem> problems;
    std::vector<HistoryRun> runs;
    for (std::size_t i = 0; i < options.paths.size(); ++i) {
        auto opened = openRun(options, options.paths[i], configs[i], knowledge, problems);
        if (!opened) {
            return fail(opened.error());
        }
        runs.push_back(std::move(*opened));
    }
    return print(options, runs, problems);
}

} // namespace

void addCompare(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "compare",
        say(HEADROOM_TR("cli", "runs side by side, each after the one before: what changed, and what it did")));
    const auto options = std::make_shared<Options>();
    command
        ->add_option("RUN", options->paths,
                     say(HEADROOM_TR("cli", "two or more in their order: logs, or configs whose estimate is taken")))
        ->required()
        ->expected(2, mostRuns);
    command
        ->add_option("--config", options->configs,
                     say(HEADROOM_TR("cli", "config of a log; repeated for the logs in their order")))
        ->take_all()
        ->expected(1);
    command->add_option("--other-config", options->afterConfig, say(HEADROOM_TR("cli", "config of the second log")));
    command->add_option(
        "--reference", options->reference,
        say(HEADROOM_TR("cli", "with more than two runs: the one, counted from 1, that all are measured against")));
    command->add_option("--model", options->plan.model, say(HEADROOM_TR("cli", "model preset or file of all")));
    command->add_option("--world", options->plan.world, say(HEADROOM_TR("cli", "number of GPUs of all")))
        ->check(CLI::PositiveNumber);
    command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
