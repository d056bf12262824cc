// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"
#include "table.h"
#include "wording.h"

#include "footprint/estimate.h"
#include "footprint/outlook/step_time.h"
#include "footprint/outlook/uncertainty.h"
#include "footprint/tape/shape.h"
#include "plan/fields.h"
#include "replay/replay.h"
#include "units/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace headroom::cli {

namespace {

struct Options
{
    PlanOptions plan;
    bool json = false;
    bool working = false;
    bool instant = false;
    bool textbook = false;
};

const char* nameOf(Engine engine)
{
    switch (engine) {
    case Engine::Textbook:
        return "textbook";
    case Engine::Instant:
        return "instant";
    case Engine::Replay:
        break;
    }
    return "replay";
}

Estimator estimatorOf(const Options& options)
{
    return options.textbook ? estimate : options.instant ? estimateInstantly : replay;
}

/// "megatron-te, assumed": whose layers the tapes describe.
std::string profileText(const TrainingPlan& plan)
{
    return plan.implementation.profile.isStated()
        ? std::string(profileOf(plan))
        : say(HEADROOM_TR("cli", "%1, assumed; --set implementation.profile=… for another"),
              {std::string(profileOf(plan))});
}

/// Which figures these are, and why not better ones.
std::string engineText(const TrainingPlan& plan, const Footprint& footprint)
{
    switch (footprint.engine) {
    case Engine::Textbook:
        return footprint.notExact
            ? say(HEADROOM_TR("cli", "the textbook recipe, since %1"), {translated(*footprint.notExact)})
            : say(HEADROOM_TR("cli", "the textbook recipe at k = %1"), {fmt::format("{:.4g}", footprint.k)});
    case Engine::Instant:
        return say(HEADROOM_TR("cli", "the tensors of each layer, summed in closed form (%1)"), {profileText(plan)});
    case Engine::Replay:
        break;
    }
    return say(HEADROOM_TR("cli", "one training step replayed tensor by tensor through the allocator (%1)"),
               {profileText(plan)});
}

/// What --set changes: memory and time against the plan of the files.
struct Change
{
    Bytes device; ///< of the original's fullest stage
    std::optional<RelativeStepTime> time;
};

std::optional<Footprint> originalOf(const Options& options, const Inputs& inputs)
{
    Footprint before;
    const bool isThere
        = inputs.original && estimatorOf(options)(*inputs.original, inputs.calibration, before).has_value();
    return isThere ? std::optional(std::move(before)) : std::nullopt;
}

Change changeOf(const Footprint& before, const Inputs& inputs)
{
    Change change{before.fullest().device, std::nullopt};
    if (const auto time = relativeStepTime(*inputs.original, inputs.plan)) {
        change.time = *time;
    }
    return change;
}

std::string changeText(const Change& change)
{
    const std::string before = formatGib(change.device);
    return change.time ? say(HEADROOM_TR("cli", "Without --set it is %1. A step takes %2 (a ratio only)."),
                             {before, stepTimeText(*change.time)})
                       : say(HEADROOM_TR("cli", "Without --set it is %1."), {before});
}

struct Report
{
    Footprint footprint;
    Uncertainty uncertainty;
    std::optional<Change> change;
    std::vector<Finding> findings;
};

void printForPeople(const Options& options, const Inputs& inputs, const Report& report)
{
    const Footprint& footprint = report.footprint;
    const TextbookFigures& textbook = footprint.textbook;
    fmt::print("{}", wrapped("", verdictText(footprint)));
    if (report.change) {
        fmt::print("{}", wrapped("", changeText(*report.change)));
    }
    if (inputs.calibrated) {
        fmt::print("{}", calibrationText(*inputs.calibrated, inputs.plan));
    } else if (inputs.savedCalibration) {
        fmt::print("{}", calibrationText(*inputs.savedCalibration, inputs.plan));
    }
    if (!inputs.notEstimated.empty()) {
        fmt::print("{}\n",
                   say(HEADROOM_TR("cli", "Incomplete: %1 changes what is allocated and is not estimated"),
                       {fmt::format("{}", fmt::join(inputs.notEstimated, ", "))}));
    }
    fmt::print("\n{}\n", stagesText(footprint));
    if (const std::string doubts = uncertaintyText(report.uncertainty, footprint); !doubts.empty()) {
        fmt::print("{}\n", doubts);
    }
    fmt::print(
        "{}{}",
        wrapped(say(HEADROOM_TR("cli", "Textbook: ")),
                say(HEADROOM_TR("cli",
                                "12h² = %1 per block, %2 parameters, %3 static, %4 activations per micro-batch at k = "
                                "%5, %6 in flight"),
                    {formatCount(textbook.blockParameters), formatCount(textbook.parameters),
                     formatGib(textbook.staticState, 3), formatGib(textbook.activations, 3),
                     fmt::format("{:.4g}", textbook.k), std::to_string(textbook.inFlight)})),
        wrapped(say(HEADROOM_TR("cli", "Detailed: ")),
                say(HEADROOM_TR("cli", "%1 parameters, fullest stage %2; from %3"),
                    {formatCount(footprint.modelParameters), formatGib(footprint.fullest().device, 3),
                     engineText(inputs.plan, footprint)})));
    if (options.working) {
        // The formulas are the recipe's, and so are the numbers in them.
        Footprint recipe;
        if (estimate(inputs.plan, inputs.calibration, recipe)) {
            fmt::print("\n{}\n{}", say(HEADROOM_TR("cli", "The recipe's working")),
                       workingText(explain(inputs.plan, inputs.calibration, recipe, recipe.fullestStage)));
        }
    }
    if (!report.findings.empty()) {
        fmt::print("\n{}", findingsText(report.findings));
    }
}

Json fitJson(const Footprint& footprint)
{
    constexpr std::array names{"fits", "may_not_fit", "does_not_fit"};
    const auto fit = footprint.fit();
    return fit ? Json(names[static_cast<std::size_t>(*fit)]) : Json(nullptr);
}

Json calibrationJson(const Calibrated& calibrated)
{
    Json suspects = Json::array();
    for (const Suspect& suspect : calibrated.suspects) {
        Json edits = Json::object();
        for (const PlanEdit& edit : suspect.edits) {
            edits[edit.field] = edit.value;
        }
        suspects.push_back({{"name", suspect.name.english()}, {"edits", std::move(edits)}, {"misfit", suspect.misfit}});
    }
    return Json{{"points", calibrated.residuals.size()},
                {"activations_factor", calibrated.calibration.activations},
                {"activations_factor_low", calibrated.activations.low},
                {"activations_factor_high", calibrated.activations.high},
                {"offset_bytes", calibrated.calibration.offset.value},
                {"k", calibrated.k},
                {"theory_k", calibrated.theoryK},
                {"theory_misfit", calibrated.misfit},
                {"suspects", std::move(suspects)}};
}

Json calibrationJson(const SavedCalibration& saved)
{
    return Json{{"name", saved.name},
                {"points", saved.points},
                {"activations_factor", saved.calibration.activations},
                {"offset_bytes", saved.calibration.offset.value},
                {"k", saved.k},
                {"theory_k", saved.theoryK}};
}

Json estimateJson(const Inputs& inputs, const Report& report)
{
    const Footprint& footprint = report.footprint;
    Json stages = Json::array();
    for (const StageFootprint& stage : footprint.stages) {
        stages.push_back(toJson(stage));
    }
    const auto fits = footprint.fits();
    return Json{
        {"schema", "headroom.estimate/1"},
        {"engine", nameOf(footprint.engine)},
        {"profile", footprint.engine == Engine::Textbook ? Json(nullptr) : Json(profileOf(inputs.plan))},
        {"not_exact", footprint.notExact ? Json(footprint.notExact->english()) : Json(nullptr)},
        {"plan", toJson(inputs.plan)},
        {"incomplete", inputs.notEstimated},
        {"capacity_bytes", footprint.capacity ? Json(footprint.capacity->value) : Json(nullptr)},
        {"fits", fits ? Json(*fits) : Json(nullptr)},
        {"fit", fitJson(footprint)},
        {"fullest_stage", footprint.fullest().stage},
        {"model_parameters", footprint.modelParameters},
        {"k", footprint.k},
        {"stages", std::move(stages)},
        {"textbook", toJson(footprint.textbook)},
        {"uncertainty", toJson(report.uncertainty.reasons)},
        {"assumptions", toJson(report.uncertainty.assumptions, footprint.fullestStage)},
        {"calibration",
         inputs.calibrated             ? calibrationJson(*inputs.calibrated)
             : inputs.savedCalibration ? calibrationJson(*inputs.savedCalibration)
                                       : Json(nullptr)},
        {"original_device_bytes", report.change ? Json(report.change->device.value) : Json(nullptr)},
        {"relative_step_time", report.change && report.change->time ? toJson(*report.change->time) : Json(nullptr)},
        {"findings", toJson(report.findings)},
        {"problems", toJson(inputs.problems)}};
}

/// Values that no file gives can be given here, all that are needed at once.
int failWithWayOut(const Problem& problem, const TrainingPlan& plan)
{
    const int code = fail(problem);
    const auto& arguments = problem.text.arguments;
    if (arguments.size() != 1 || !isFieldKey(arguments.front())) {
        return code;
    }
    std::vector<std::string_view> missing = missingInputs(plan);
    if (missing.empty()) {
        missing = {arguments.front()};
    }
    const bool isModel = std::any_of(missing.begin(), missing.end(), [](std::string_view field) {
        return field.starts_with("model.") && field != "model.vocab";
    });
    if (isModel) {
        std::erase_if(missing, [](std::string_view field) { return field.starts_with("model."); });
        fmt::print(stderr, "{}\n",
                   say(HEADROOM_TR("cli",
                                   "give the model with --model PRESET|FILE (headroom-cli models lists the presets), "
                                   "or its sizes with --set model.layers=VALUE and so on")));
    }
    for (const std::string_view field : missing) {
        fmt::print(stderr, "{}\n", say(HEADROOM_TR("cli", "give it with --set %1=VALUE"), {std::string(field)}));
    }
    return code;
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return fail(inputs.error());
    }
    Report report;
    Footprint& footprint = report.footprint;
    if (const auto done = estimatorOf(options)(inputs->plan, inputs->calibration, footprint); !done) {
        printProblems(inputs->problems);
        return failWithWayOut(done.error(), inputs->plan);
    }
    report.uncertainty = describeUncertainty(inputs->plan, inputs->calibration, footprint);
    const std::optional<Footprint> before = originalOf(options, *inputs);
    Situation situation;
    situation.plan = &inputs->plan;
    situation.footprint = &footprint;
    if (before) {
        report.change = changeOf(*before, *inputs);
        situation.original = &*inputs->original;
        situation.originalFootprint = &*before;
    }
    situation.calibration = inputs->calibration;
    situation.withoutEffect = inputs->withoutEffect;
    situation.estimator = options.textbook ? estimate : estimateInstantly;
    situation.exact = options.textbook || options.instant ? nullptr : replayWithin;
    report.findings = diagnose(situation);
    if (options.json) {
        printJson(estimateJson(*inputs, report));
    } else {
        printProblems(inputs->problems);
        printForPeople(options, *inputs, report);
    }
    return footprint.fits() == false ? DoesNotHold : Holds;
}

} // namespace

void addEstimate(CLI::App& app, int& exitCode)
{
    CLI::App* command = app.add_subcommand(
        "estimate", say(HEADROOM_TR("cli", "memory of every pipeline stage, recomputed from the configuration")));
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    CLI::Option* instant
        = command->add_flag("--instant", options->instant,
                            say(HEADROOM_TR("cli", "sum the tensors in closed form instead of replaying a step")));
    command->add_flag("--textbook", options->textbook, say(HEADROOM_TR("cli", "the recipe alone, as --k does")))
        ->excludes(instant);
    command->add_flag("--working", options->working, say(HEADROOM_TR("cli", "show every formula with its numbers")));
    command->add_flag("--json", options->json, say(HEADROOM_TR("cli", "print JSON")));
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
