// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"
#include "table.h"

#include "insight/compare.h"
#include "replay/replay.h"
#include "runlog/read_log.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    std::vector<std::string> paths;
    std::string beforeConfig, afterConfig;
    PlanOptions plan; ///< what both configs have in common: model, GPU, number of GPUs
    bool json = false;
};

/// A log with or without its config, or a config whose estimate stands for a log.
struct Side
{
    RunFigures figures;
    std::optional<TrainingPlan> plan;
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

Result<Side> openSide(const Options& options, const std::string& path, const std::string& config,
                      const Knowledge& knowledge, std::vector<Problem>& problems)
{
    Side side;
    if (config.empty() && isConfig(path, knowledge)) {
        auto plan = openPlan(options, path, knowledge);
        if (!plan) {
            return tl::unexpected(plan.error());
        }
        Footprint footprint;
        if (auto done = replay(*plan, {}, footprint); !done) {
            return tl::unexpected(done.error());
        }
        side.figures = RunFigures::of(footprint, path);
        side.plan = std::move(*plan);
        return side;
    }
    const std::vector<std::filesystem::path> paths{path};
    const auto log = readLog(paths);
    if (!log) {
        return tl::unexpected(log.error());
    }
    problems.insert(problems.end(), log->problems.begin(), log->problems.end());
    if (log->isEmpty()) {
        return failure(Text{HEADROOM_TR("core", "neither a config nor a log with memory measurements")}, path, 0);
    }
    side.figures = RunFigures::of(*log, summarise(*log));
    side.figures.name = path;
    if (!config.empty()) {
        auto plan = openPlan(options, config, knowledge);
        if (!plan) {
            return tl::unexpected(plan.error());
        }
        side.plan = std::move(*plan);
    }
    return side;
}

double relative(double before, double after)
{
    return before > 0 ? after / before - 1 : 0;
}

Table figuresTable(const RunComparison& comparison)
{
    Table table;
    table.addColumn("peaks", Table::Align::Left);
    table.addColumn("before");
    table.addColumn("after");
    table.addColumn("change");
    const auto addBytes = [&table](const std::string& name, std::optional<Bytes> a, std::optional<Bytes> b) {
        if (a || b) {
            table.addRow(
                {name, a ? formatGib(*a, 3) : "", b ? formatGib(*b, 3) : "",
                 a && b ? fmt::format("{:+.3f} GiB, {:+.1f} %", static_cast<double>(b->value - a->value) / (1 << 30),
                                      100 * relative(static_cast<double>(a->value), static_cast<double>(b->value)))
                        : ""});
        }
    };
    const auto addReal = [&table](const char* name, std::optional<double> a, std::optional<double> b) {
        if (a || b) {
            table.addRow({name, a ? formatReal(*a) : "", b ? formatReal(*b) : "",
                          a && b ? fmt::format("{:+.1f} %", 100 * relative(*a, *b)) : ""});
        }
    };
    const RunFigures& before = comparison.before;
    const RunFigures& after = comparison.after;
    addBytes("allocated peak", before.allocated, after.allocated);
    for (std::size_t phase = 0; phase < before.phases.size(); ++phase) {
        addBytes(fmt::format("  {}", nameOf(static_cast<Phase>(phase))), before.phases[phase], after.phases[phase]);
    }
    addBytes("reserved peak", before.reserved, after.reserved);
    addBytes("device", before.device, after.device);
    addReal("step time, s", before.stepSeconds, after.stepSeconds);
    addReal("tokens/s", before.tokensPerSecond, after.tokensPerSecond);
    return table;
}

void printForPeople(const RunComparison& comparison)
{
    fmt::print("before: {}{}\nafter:  {}{}\n\n", comparison.before.name,
               comparison.before.isEstimate ? " (estimate)" : "", comparison.after.name,
               comparison.after.isEstimate ? " (estimate)" : "");
    if (comparison.hasPlans) {
        fmt::print("{}\n", comparison.variables.empty() ? "Same settings" : "What changed");
        for (const ChangedVariable& variable : comparison.variables) {
            for (const FieldDifference& one : variable.differences) {
                fmt::print("  {}: {} → {}\n", one.key, one.before.empty() ? "not set" : one.before,
                           one.after.empty() ? "not set" : one.after);
            }
        }
        fmt::print("\n");
    }
    fmt::print("{}", figuresTable(comparison).text());
    if (!comparison.findings.empty()) {
        fmt::print("\n{}", findingsText(comparison.findings));
    }
}

Json figuresJson(const RunFigures& figures)
{
    const auto bytes = [](std::optional<Bytes> value) { return value ? Json(value->value) : Json(nullptr); };
    const auto real = [](std::optional<double> value) { return value ? Json(*value) : Json(nullptr); };
    Json phases = Json::object();
    for (std::size_t phase = 0; phase < figures.phases.size(); ++phase) {
        phases[std::string(nameOf(static_cast<Phase>(phase)))] = {{"allocated_bytes", bytes(figures.phases[phase])}};
    }
    return Json{{"name", figures.name},
                {"is_estimate", figures.isEstimate},
                {"peak_allocated_bytes", bytes(figures.allocated)},
                {"peak_reserved_bytes", bytes(figures.reserved)},
                {"device_bytes", bytes(figures.device)},
                {"phases", std::move(phases)},
                {"step_time_seconds", real(figures.stepSeconds)},
                {"tokens_per_second", real(figures.tokensPerSecond)}};
}

Json comparisonJson(const RunComparison& comparison)
{
    Json changes = Json::array();
    for (const ChangedVariable& variable : comparison.variables) {
        Json fields = Json::object();
        for (const FieldDifference& one : variable.differences) {
            fields[one.key] = {{"before", one.before}, {"after", one.after}};
        }
        changes.push_back({{"variable", variable.id}, {"fields", std::move(fields)}});
    }
    return Json{{"schema", "headroom.compare/1"},         {"before", figuresJson(comparison.before)},
                {"after", figuresJson(comparison.after)}, {"plans_known", comparison.hasPlans},
                {"changes", std::move(changes)},          {"findings", toJson(comparison.findings)}};
}

int run(const Options& options)
{
    const Knowledge knowledge;
    std::vector<Problem> problems;
    auto before = openSide(options, options.paths[0], options.beforeConfig, knowledge, problems);
    if (!before) {
        return fail(before.error());
    }
    auto after = openSide(options, options.paths[1], options.afterConfig, knowledge, problems);
    if (!after) {
        return fail(after.error());
    }
    const auto planOf = [](const Side& side) { return side.plan ? &*side.plan : nullptr; };
    const RunComparison comparison
        = compareRuns(std::move(before->figures), std::move(after->figures), planOf(*before), planOf(*after));
    if (options.json) {
        printJson(comparisonJson(comparison));
    } else {
        printProblems(problems);
        printForPeople(comparison);
    }
    const bool isBad = std::any_of(comparison.findings.begin(), comparison.findings.end(),
                                   [](const Finding& finding) { return finding.id == "no-effect"; });
    return isBad ? DoesNotHold : Holds;
}

} // namespace

void addCompare(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand("compare", "two runs side by side: what changed, and what it did");
    const auto options = std::make_shared<Options>();
    command->add_option("RUN", options->paths, "before and after: logs, or configs whose estimate is taken")
        ->required()
        ->expected(2);
    command->add_option("--config", options->beforeConfig, "config of the first log");
    command->add_option("--other-config", options->afterConfig, "config of the second log");
    command->add_option("--model", options->plan.model, "model preset or file of both");
    command->add_option("--world", options->plan.world, "number of GPUs of both")->check(CLI::PositiveNumber);
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
