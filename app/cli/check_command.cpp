// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"
#include "wording.h"

#include "footprint/estimate.h"
#include "plan/batch.h"
#include "plan/fields.h"
#include "plan/pipeline_split.h"
#include "plan/validity.h"
#include "replay/replay.h"
#include "runlog/log_arguments.h"
#include "runlog/read_log.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    PlanOptions plan;
    bool json = false;
};

std::string number(std::optional<std::int64_t> value)
{
    return value ? formatCount(*value) : "?";
}

std::string equationLine(const BatchEquation& equation)
{
    const char* mark = !equation.holds ? "?" : *equation.holds ? "✓" : "✗";
    return say(HEADROOM_TR("cli", "%1 micro × %2 accumulate × %3 data-parallel = %4, global batch %5 %6"),
               {number(equation.micro), number(equation.accumulate), number(equation.dataParallel),
                number(equation.product), number(equation.global), mark});
}

/// Most configs leave the number of GPUs to the launcher.
std::string worldLine(const TrainingPlan& plan)
{
    for (const Count* field : {&plan.parallel.world, &plan.parallel.dp}) {
        if (field->origin.kind == OriginKind::Log) {
            return say(HEADROOM_TR("cli", "the number of GPUs, %1, follows from %2"),
                       {formatCount(worldSize(plan)), field->origin.english()})
                + '\n';
        }
    }
    const bool isKnown = plan.parallel.world.isKnown() || plan.parallel.dp.isKnown();
    return isKnown ? std::string{}
                   : say(HEADROOM_TR("cli", "the number of GPUs is not in these files; %1 taken (--world N)"),
                         {formatCount(worldSize(plan))})
            + '\n';
}

/// What has to be given before there is an estimate.
std::string unknownLine(const TrainingPlan& plan)
{
    const std::vector<std::string_view> missing = missingInputs(plan);
    return missing.empty()
        ? std::string{}
        : say(HEADROOM_TR("cli", "not known from these files: %1"), {fmt::format("{}", fmt::join(missing, ", "))})
            + '\n';
}

std::string recomputeLine(const TrainingPlan& plan)
{
    const RecomputePlan& recompute = plan.recompute;
    const bool isOn = recompute.enabled.value && recompute.granularity.value != Granularity::None;
    const auto place = [&](const char* field) {
        return fmt::format("{} = {} ({})", field, fieldText(plan, field), fieldOrigin(plan, field).english());
    };
    return say(HEADROOM_TR("cli", "recompute in effect: %1  [%2, %3]"),
               {isOn ? std::string(nameOf(recompute.granularity.value)) : "none", place("recompute.enabled"),
                place("recompute.granularity")});
}

std::string splitLine(const TrainingPlan& plan)
{
    const std::vector<std::int64_t> layers = layersPerStage(plan);
    if (layers.empty()) {
        return {};
    }
    if (layers.size() == 1) {
        return say(HEADROOM_TR("cli", "%1 layers on a single stage"), {formatCount(layers.front())});
    }
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end());
    const std::string fewest = std::to_string(*least), stages = std::to_string(layers.size());
    return *least == *most
        ? say(HEADROOM_TR("cli", "%1 layers on each of %2 stages"), {fewest, stages})
        : say(HEADROOM_TR("cli", "%1 to %2 layers on each of %3 stages"), {fewest, std::to_string(*most), stages});
}

/// The files that the configs name and that were read with them.
std::vector<std::string> namedFilesOf(const std::vector<OpenedConfig>& configs)
{
    std::vector<std::string> files;
    for (const OpenedConfig& config : configs) {
        files.insert(files.end(), config.files.begin(), config.files.end());
    }
    return files;
}

bool isTrouble(Severity severity)
{
    return severity != Severity::Note;
}

/// Everything that has to be open for the rules; the log and the estimate are there only where they can be.
struct Opened
{
    Inputs inputs;
    std::optional<TrainingPlan> logPlan; ///< from the arguments the log lists
    std::optional<Footprint> footprint;
    std::vector<Problem> problems;
};

Result<Opened> open(const Options& options, const Knowledge& knowledge)
{
    auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    Opened opened{std::move(*inputs), {}, {}, {}};
    opened.problems = opened.inputs.problems;
    if (const std::optional<Run>& run = opened.inputs.run) {
        opened.problems.insert(opened.problems.end(), run->problems.begin(), run->problems.end());
        if (auto plan = planOfArguments(*run, knowledge.formats, knowledge.catalog)) {
            opened.logPlan = std::move(*plan);
        }
    }
    // Errors of the plan are findings.
    std::vector<Problem> invalid = validate(opened.inputs.plan);
    std::erase_if(invalid, [](const Problem& problem) { return problem.severity == Severity::Error; });
    opened.problems.insert(opened.problems.end(), invalid.begin(), invalid.end());
    Footprint footprint;
    if (estimateInstantly(opened.inputs.plan, opened.inputs.calibration, footprint)) {
        opened.footprint = std::move(footprint);
    }
    return opened;
}

Json equationJson(const BatchEquation& equation)
{
    const auto value = [](std::optional<std::int64_t> term) { return term ? Json(*term) : Json(nullptr); };
    return Json{{"micro_batch", value(equation.micro)},
                {"accumulate", value(equation.accumulate)},
                {"data_parallel", value(equation.dataParallel)},
                {"global_batch", value(equation.global)},
                {"product", value(equation.product)},
                {"holds", equation.holds ? Json(*equation.holds) : Json(nullptr)}};
}

Json missingJson(const TrainingPlan& plan)
{
    Json fields = Json::array();
    for (const std::string_view field : missingInputs(plan)) {
        fields.push_back(std::string(field));
    }
    return fields;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto opened = open(options, knowledge);
    if (!opened) {
        return fail(opened.error());
    }
    const TrainingPlan& plan = opened->inputs.plan;
    Situation situation;
    situation.plan = &plan;
    situation.footprint = opened->footprint ? &*opened->footprint : nullptr;
    situation.run = opened->inputs.run ? &*opened->inputs.run : nullptr;
    situation.logPlan = opened->logPlan ? &*opened->logPlan : nullptr;
    situation.withoutEffect = opened->inputs.withoutEffect;
    situation.calibration = opened->inputs.calibration;
    situation.estimator = estimateInstantly;
    situation.exact = replayWithin;
    situation.lacking = lackingOf(opened->inputs);
    const std::vector<Finding> findings = diagnose(situation);
    const bool hasTrouble = std::any_of(findings.begin(), findings.end(),
                                        [](const Finding& finding) { return isTrouble(finding.severity); })
        || std::any_of(opened->problems.begin(), opened->problems.end(),
                       [](const Problem& problem) { return isTrouble(problem.severity); });
    if (options.json) {
        const bool isOn = plan.recompute.enabled.value;
        printJson(Json{{"schema", "headroom.check/1"},
                       {"holds", !hasTrouble},
                       {"global_batch_equation", equationJson(batchEquation(plan))},
                       {"effective_recompute", std::string(isOn ? nameOf(plan.recompute.granularity.value) : "none")},
                       {"unknown", missingJson(plan)},
                       {"named_files", namedFilesOf(opened->inputs.configs)},
                       {"plan", toJson(plan)},
                       {"findings", toJson(findings)},
                       {"problems", toJson(opened->problems)}});
    } else {
        fmt::print("{}\n{}{}{}\n", equationLine(batchEquation(plan)), worldLine(plan), unknownLine(plan),
                   recomputeLine(plan));
        const std::string split = splitLine(plan);
        fmt::print("{}{}\n", split, split.empty() ? "" : "\n");
        for (const std::string& file : namedFilesOf(opened->inputs.configs)) {
            fmt::print("{}\n", say(HEADROOM_TR("cli", "also read: %1"), {file}));
        }
        printProblems(opened->problems);
        fmt::print("{}", findingsText(findings));
        const char* sure = missingInputs(plan).empty() ? HEADROOM_TR("cli", "Holds.")
                                                       : HEADROOM_TR("cli", "Holds, as far as these files say.");
        fmt::print("{}\n", say(hasTrouble ? HEADROOM_TR("cli", "Does not hold.") : sure));
    }
    return hasTrouble ? DoesNotHold : Holds;
}

} // namespace

void addCheck(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "check",
        say(HEADROOM_TR("cli", "does the batch equation hold, is recompute really on, what contradicts itself")));
    const auto options = std::make_shared<Options>();
    command->add_option("CONFIG", options->plan.configs, say(HEADROOM_TR("cli", "config files, later ones win")))
        ->required();
    command->add_option("--log", options->plan.log,
                        say(HEADROOM_TR("cli", "the log of the run, for what it says about the config")));
    command->add_option("--model", options->plan.model,
                        say(HEADROOM_TR("cli", "model preset or file (an HF config.json)")));
    command->add_option("--world", options->plan.world, say(HEADROOM_TR("cli", "number of GPUs of the run")))
        ->check(CLI::PositiveNumber);
    command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
