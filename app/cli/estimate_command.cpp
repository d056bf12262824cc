// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands.h"
#include "inputs.h"
#include "json.h"
#include "report.h"

#include "footprint/estimate.h"
#include "footprint/tape_shape.h"
#include "replay/replay.h"
#include "units/number.h"

#include <fmt/format.h>

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
    const bool isStated = plan.implementation.profile.isStated();
    return fmt::format("{}{}", profileOf(plan),
                       isStated ? "" : ", assumed; --set implementation.profile=… for another");
}

/// Which figures these are, and why not better ones.
std::string engineText(const TrainingPlan& plan, const Footprint& footprint)
{
    switch (footprint.engine) {
    case Engine::Textbook:
        return footprint.notExact ? fmt::format("the textbook recipe, since {}", footprint.notExact->english())
                                  : fmt::format("the textbook recipe at k = {:.4g}", footprint.k);
    case Engine::Instant:
        return fmt::format("the tensors of each layer, summed in closed form ({})", profileText(plan));
    case Engine::Replay:
        break;
    }
    return fmt::format("one training step replayed tensor by tensor through the allocator ({})", profileText(plan));
}

void printForPeople(const Options& options, const Inputs& inputs, const Footprint& footprint,
                    const std::vector<Finding>& findings)
{
    const TextbookFigures& textbook = footprint.textbook;
    fmt::print("{}\n", verdictText(footprint));
    if (!inputs.notEstimated.empty()) {
        fmt::print("Incomplete: {} changes what is allocated and is not estimated\n",
                   fmt::join(inputs.notEstimated, ", "));
    }
    fmt::print("\n{}\n", stagesText(footprint));
    fmt::print(
        "Textbook: 12h² = {} per block, {} parameters, {} static, {} activations per micro-batch at k = {:.4g}, {} "
        "in flight\n",
        formatCount(textbook.blockParameters), formatCount(textbook.parameters), formatGib(textbook.staticState, 3),
        formatGib(textbook.activations, 3), textbook.k, textbook.inFlight);
    fmt::print("Detailed: {} parameters, fullest stage {}; from {}\n", formatCount(footprint.modelParameters),
               formatGib(footprint.fullest().device, 3), engineText(inputs.plan, footprint));
    if (options.working) {
        // The formulas are the recipe's, and so are the numbers in them.
        Footprint recipe;
        if (estimate(inputs.plan, inputs.calibration, recipe)) {
            fmt::print("\nThe recipe's working\n{}",
                       workingText(explain(inputs.plan, inputs.calibration, recipe, recipe.fullestStage)));
        }
    }
    if (!findings.empty()) {
        fmt::print("\n{}", findingsText(findings));
    }
}

Json estimateJson(const Inputs& inputs, const Footprint& footprint, const std::vector<Finding>& findings)
{
    Json stages = Json::array();
    for (const StageFootprint& stage : footprint.stages) {
        stages.push_back(toJson(stage));
    }
    const auto fits = footprint.fits();
    return Json{{"schema", "headroom.estimate/1"},
                {"engine", nameOf(footprint.engine)},
                {"profile", footprint.engine == Engine::Textbook ? Json(nullptr) : Json(profileOf(inputs.plan))},
                {"not_exact", footprint.notExact ? Json(footprint.notExact->english()) : Json(nullptr)},
                {"plan", toJson(inputs.plan)},
                {"incomplete", inputs.notEstimated},
                {"capacity_bytes", footprint.capacity ? Json(footprint.capacity->value) : Json(nullptr)},
                {"fits", fits ? Json(*fits) : Json(nullptr)},
                {"fullest_stage", footprint.fullest().stage},
                {"model_parameters", footprint.modelParameters},
                {"k", footprint.k},
                {"stages", std::move(stages)},
                {"textbook", toJson(footprint.textbook)},
                {"findings", toJson(findings)},
                {"problems", toJson(inputs.problems)}};
}

int run(const Options& options)
{
    const Knowledge knowledge;
    const auto inputs = openInputs(options.plan, knowledge);
    if (!inputs) {
        return fail(inputs.error());
    }
    Footprint footprint;
    if (const auto done = estimatorOf(options)(inputs->plan, inputs->calibration, footprint); !done) {
        printProblems(inputs->problems);
        return fail(done.error());
    }
    Situation situation;
    situation.plan = &inputs->plan;
    situation.footprint = &footprint;
    situation.calibration = inputs->calibration;
    // A mend's prediction needs no reserved bytes, and a replay may take a second.
    situation.estimator = options.textbook ? estimate : estimateInstantly;
    const std::vector<Finding> findings = diagnose(situation);
    if (options.json) {
        printJson(estimateJson(*inputs, footprint, findings));
    } else {
        printProblems(inputs->problems);
        printForPeople(options, *inputs, footprint, findings);
    }
    return footprint.fits() == false ? DoesNotHold : Holds;
}

} // namespace

void addEstimate(CLI::App& app, int& exitCode)
{
    CLI::App* command
        = app.add_subcommand("estimate", "memory of every pipeline stage, recomputed from the configuration");
    const auto options = std::make_shared<Options>();
    addPlanOptions(*command, options->plan);
    CLI::Option* instant = command->add_flag("--instant", options->instant,
                                             "sum the tensors in closed form instead of replaying a step");
    command->add_flag("--textbook", options->textbook, "the recipe alone, as --k does")->excludes(instant);
    command->add_flag("--working", options->working, "show every formula with its numbers");
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace headroom::cli
