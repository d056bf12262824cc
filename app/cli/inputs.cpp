// SPDX-License-Identifier: GPL-3.0-or-later
#include "inputs.h"

#include "calibration_options.h"
#include "commands.h"
#include "wording.h"

#include "config/assumed_batch.h"
#include "insight/fit_knobs.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"
#include "runlog/anchor_scan.h"
#include "runlog/log_arguments.h"
#include "runlog/log_launch.h"
#include "runlog/read_log.h"
#include "units/bytes.h"

#include <fmt/format.h>

#include <cstdlib>

namespace headroom::cli {

namespace {

Origin fromCommandLine(std::string option)
{
    return {OriginKind::CommandLine, 0, std::make_shared<const std::string>(std::move(option))};
}

Result<void> applySettings(const PlanOptions& options, const Knowledge& knowledge, TrainingPlan& plan)
{
    for (const std::string& setting : options.settings) {
        const auto assignment = parseAssignment(setting);
        if (!assignment) {
            return tl::unexpected(assignment.error());
        }
        const std::string field = fieldOf(assignment->key, knowledge.formats);
        if (field.empty()) {
            const std::string nearest = nearestField(assignment->key);
            return failure(nearest.empty()
                               ? Text{HEADROOM_TR("core", "--set %1: no such field; headroom-cli fields lists them"),
                                      {assignment->key}}
                               : Text{HEADROOM_TR("core", "--set %1: no such field; did you mean %2?"),
                                      {assignment->key, nearest}});
        }
        if (auto done = setField(plan, field, assignment->value, fromCommandLine("--set")); !done) {
            return done;
        }
    }
    // As in a file, which need not say both.
    RecomputePlan& recompute = plan.recompute;
    if (recompute.granularity.origin.kind == OriginKind::CommandLine && !recompute.enabled.isStated()
        && recompute.granularity.value != Granularity::None) {
        recompute.enabled.set(true, {OriginKind::Derived, 0, nullptr});
    }
    return {};
}

Result<void> applyHardware(const PlanOptions& options, const Knowledge& knowledge, TrainingPlan& plan)
{
    if (!options.gpu.empty()) {
        plan.hardware.gpu.set(options.gpu, fromCommandLine("--gpu"));
        // The card named here replaces whatever capacity a file states.
        plan.hardware.capacityBytes = {};
    }
    if (!options.capacity.empty()) {
        if (auto done = setField(plan, "hardware.capacity_bytes", options.capacity, fromCommandLine("--capacity"));
            !done) {
            return done;
        }
    }
    if (options.world > 0) {
        plan.parallel.world.set(options.world, fromCommandLine("--world"));
        if (plan.parallel.dp.origin.kind == OriginKind::Log) {
            plan.parallel.dp = {}; // of the run as it was
        }
    }
    // A stated capacity is enough; only a card that has to supply it must be known.
    const auto resolved = resolveGpu(plan, knowledge.catalog);
    return plan.hardware.capacityBytes.isKnown() && options.gpu.empty() ? Result<void>{} : resolved;
}

/// What a list of arguments that is not whole leaves open, in one sentence.
void noteDefaults(const std::vector<std::string>& fields, const TrainingPlan& plan, const std::string& path,
                  std::vector<Problem>& problems)
{
    std::string list;
    for (const std::string& field : fields) {
        list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", field, fieldText(plan, field));
    }
    if (!list.empty()) {
        problems.push_back({Severity::Note, path, 0,
                            Text{HEADROOM_TR("core",
                                             "the log's list of arguments is not whole; taken as Megatron-LM's "
                                             "defaults: %1"),
                                 {list}}});
    }
}

struct LoggedPlan
{
    Run run;
    TrainingPlan plan;
};

/// A log in the place of a config: the plan of its arguments, and of what it says of the launch. Null where the file is
/// no log.
Result<std::optional<LoggedPlan>> planOfLog(const std::string& path, bool hasModel, const Knowledge& knowledge)
{
    if (std::filesystem::is_directory(path)) {
        return std::nullopt;
    }
    auto run = readLogs({path});
    if (!run || (run->isEmpty() && run->facts.empty())) {
        return std::nullopt;
    }
    auto plan = planOfArguments(*run, knowledge.formats, knowledge.catalog);
    if (!plan && !hasModel) {
        return failure(
            Text{HEADROOM_TR("core", "the log lists no arguments that describe a model; give one with --model")}, path);
    }
    LoggedPlan logged{*std::move(run), std::move(plan).value_or(TrainingPlan{})};
    completeFromLog(logged.plan, logged.run, knowledge.catalog);
    return logged;
}

void noteAssumed(const std::vector<std::string_view>& fields, Inputs& inputs)
{
    for (const std::string_view field : fields) {
        inputs.problems.push_back({Severity::Note,
                                   {},
                                   0,
                                   Text{HEADROOM_TR("core", "%1 = %2 is assumed; give another with --set %1=…"),
                                        {std::string(field), fieldText(inputs.plan, field)}}});
    }
}

} // namespace

std::filesystem::path userFolder()
{
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    if (config != nullptr && *config != '\0') {
        return std::filesystem::path(config) / "headroom";
    }
    return home != nullptr ? std::filesystem::path(home) / ".config" / "headroom" : std::filesystem::path{};
}

Result<Run> readLogs(const std::vector<std::string>& paths)
{
    static const LineFormats formats = LineFormats::load(userFolder());
    static const AnchorSet anchors(formats);
    ReadOptions options;
    options.formats = &anchors;
    return readLog(std::vector<std::filesystem::path>(paths.begin(), paths.end()), options);
}

Result<Assignment> parseAssignment(const std::string& text)
{
    const std::size_t at = text.find('=');
    if (at == std::string::npos || at == 0) {
        return failure(Text{HEADROOM_TR("core", "“%1” is not of the form key=value"), {text}});
    }
    return Assignment{text.substr(0, at), text.substr(at + 1)};
}

std::string fieldOf(std::string_view key, const ConfigFormats& formats)
{
    if (isFieldKey(key)) {
        return std::string(key);
    }
    for (const ConfigFormat& format : formats.formats) {
        if (format.id != "base-yaml") {
            continue;
        }
        for (const ConfigFormat::Key& mapping : format.keys) {
            if (mapping.key == key) {
                return mapping.field;
            }
        }
    }
    return {};
}

void addPlanOptions(CLI::App& command, PlanOptions& options)
{
    command.add_option("CONFIG", options.configs,
                       say(HEADROOM_TR("cli", "config files, later ones win; --model alone will do")));
    command.add_option("--model", options.model, say(HEADROOM_TR("cli", "model preset or file (an HF config.json)")));
    command
        .add_option("--set", options.settings,
                    say(HEADROOM_TR("cli", "key=value over the files, as in --set parallel.pipeline_parallel_size=4")))
        ->allow_extra_args(false)
        ->take_all();
    command.add_option("--gpu", options.gpu,
                       say(HEADROOM_TR("cli", "GPU the run is meant for; headroom-cli gpus lists them")));
    command.add_option("--capacity", options.capacity, say(HEADROOM_TR("cli", "memory of one GPU, as in 80GiB")));
    command.add_option("--world", options.world, say(HEADROOM_TR("cli", "number of GPUs of the run")))
        ->check(CLI::PositiveNumber);
    command.add_option("--k", options.k, say(HEADROOM_TR("cli", "activation copies per layer, token and hidden unit")))
        ->check(CLI::PositiveNumber);
    CLI::Option* logs = command.add_option(
        "--calibrate", options.calibrate,
        say(HEADROOM_TR("cli", "log of a run with this config: its measured peaks correct the estimate")));
    logs->allow_extra_args(false)->take_all();
    command
        .add_option("--save-calibration", options.saveCalibration,
                    say(HEADROOM_TR(
                        "cli", "keep what --calibrate found, under a name in the configuration folder or in a file")))
        ->needs(logs);
    command
        .add_option("--calibration", options.calibration,
                    say(HEADROOM_TR("cli", "calibration that was saved: its name or file")))
        ->excludes(logs);
}

std::string nameOf(const PlanOptions& options)
{
    return options.configs.empty() ? options.model : options.configs.front();
}

std::vector<std::string> lackingOf(const Inputs& inputs)
{
    std::vector<const ConfigFormat*> formats;
    for (const OpenedConfig& config : inputs.configs) {
        formats.push_back(config.format);
    }
    return fieldsLacking(formats);
}

Result<Inputs> openInputs(const PlanOptions& options, const Knowledge& knowledge)
{
    if (options.configs.empty() && options.model.empty()) {
        return failure(Text{HEADROOM_TR("core", "no config is given, and no model with --model")});
    }
    Inputs inputs;
    inputs.problems = knowledge.formats.problems;
    inputs.problems.insert(inputs.problems.end(), knowledge.catalog.problems.begin(), knowledge.catalog.problems.end());
    TrainingPlan model;
    if (!options.model.empty()) {
        auto opened = openModel(options.model, knowledge.formats, knowledge.catalog, &inputs.problems);
        if (!opened) {
            return tl::unexpected(opened.error());
        }
        model = std::move(*opened);
    }
    std::optional<LoggedPlan> logged;
    for (const std::string& path : options.configs) {
        auto config = openConfig(path, knowledge.formats, knowledge.catalog);
        if (!config) {
            auto log = planOfLog(path, !options.model.empty() || options.configs.size() > 1, knowledge);
            if (!log || !*log) {
                return tl::unexpected(log ? config.error() : log.error());
            }
            logged = std::move(*log);
            continue;
        }
        inputs.problems.insert(inputs.problems.end(), config->problems.begin(), config->problems.end());
        inputs.notEstimated.insert(inputs.notEstimated.end(), config->notEstimated.begin(), config->notEstimated.end());
        inputs.withoutEffect.insert(inputs.withoutEffect.end(), config->withoutEffect.begin(),
                                    config->withoutEffect.end());
        inputs.configs.push_back(std::move(*config));
    }
    inputs.plan = composePlan(model, inputs.configs, knowledge.catalog);
    if (logged) {
        overlay(logged->plan, inputs.plan);
        inputs.plan = std::move(logged->plan);
        noteDefaults(fieldsLeftToDefaults(logged->run, inputs.plan), inputs.plan, logged->run.files.front(),
                     inputs.problems);
        inputs.run = std::move(logged->run);
    }
    const auto logs = readCalibrationLogs(options);
    if (!logs) {
        return tl::unexpected(logs.error());
    }
    for (const Run& log : *logs) {
        completeFromLog(inputs.plan, log, knowledge.catalog);
    }
    if (!options.log.empty()) {
        auto run = readLogs({options.log});
        if (!run) {
            return tl::unexpected(run.error());
        }
        inputs.run = std::move(*run);
        completeFromLog(inputs.plan, *inputs.run, knowledge.catalog);
    }
    if (options.k > 0) {
        inputs.calibration.k = options.k;
    }
    TrainingPlan original = inputs.plan;
    if (auto done = applySettings(options, knowledge, inputs.plan); !done) {
        return tl::unexpected(done.error());
    }
    if (auto done = applyHardware(options, knowledge, inputs.plan); !done) {
        return tl::unexpected(done.error());
    }
    if (inputs.configs.empty()) {
        noteAssumed(assumeBatch(inputs.plan), inputs);
        assumeBatch(original);
    }
    if (!options.settings.empty() && applyHardware(options, knowledge, original)
        && !difference(original, inputs.plan).empty()) {
        inputs.original = std::move(original);
    }
    if (auto done = applyCalibration(options, *logs, inputs); !done) {
        return tl::unexpected(done.error());
    }
    return inputs;
}

int fail(const Problem& problem)
{
    std::fflush(stdout);
    fmt::print(stderr, "headroom-cli: {}\n", translated(problem));
    return BadInput;
}

void printProblems(const std::vector<Problem>& problems)
{
    for (const Problem& problem : problems) {
        const char* kind = problem.severity == Severity::Error ? HEADROOM_TR("cli", "error: %1")
            : problem.severity == Severity::Warning            ? HEADROOM_TR("cli", "warning: %1")
                                                               : HEADROOM_TR("cli", "note: %1");
        fmt::print(stderr, "{}\n", say(kind, {translated(problem)}));
    }
}

} // namespace headroom::cli
