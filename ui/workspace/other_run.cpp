// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/other_run.h"

#include "footprint/estimate.h"
#include "plan/fields.h"
#include "replay/replay.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QtConcurrentRun>

#include <utility>

namespace headroom {
namespace {

TrainingPlan planOf(const OpenedFiles& files, const Library& library, const TrainingPlan& open)
{
    const std::span<const OpenedConfig> configs
        = files.config ? std::span<const OpenedConfig>(&files.config->opened, 1) : std::span<const OpenedConfig>();
    TrainingPlan plan = composePlan(files.model ? files.model->plan : TrainingPlan{}, configs, library.catalog);
    if (!plan.model.layers.isKnown()) {
        TrainingPlan model;
        model.model = open.model;
        model.moe = open.moe;
        model.mla = open.mla;
        model.vision = open.vision;
        model.projector = open.projector;
        overlay(model, plan);
        plan = std::move(model);
    }
    if (!plan.hardware.capacityBytes.isKnown()) {
        plan.hardware = open.hardware;
    }
    return plan;
}

Result<OtherRun> opened(const std::vector<std::filesystem::path>& paths, const Library& library,
                        const TrainingPlan& open)
{
    const OpenedFiles files = openFiles(paths, library, [](double, const std::string&) { return true; });
    if (!files.log && !files.config && !files.model) {
        return tl::unexpected(
            files.problems.empty()
                ? Problem{Severity::Error, {}, 0, Text{HEADROOM_TR("core", "nothing could be opened")}}
                : files.problems.front());
    }
    OtherRun run;
    run.name = fileName(paths.front()).toStdString();
    if (files.config || files.model) {
        run.plan = planOf(files, library, open);
    }
    if (files.log) {
        if (files.log->run->isEmpty()) {
            return failure(Text{HEADROOM_TR("core", "neither a config nor a log with memory measurements")}, run.name);
        }
        run.measured = RunFigures::of(*files.log->run, files.log->summary);
        run.measured->name = run.name;
        run.run = files.log->run;
        if (!run.plan) {
            run.plan = files.log->plan;
        }
        if (run.plan) {
            run.measuredStages = measuredPerStage(files.log->overview, *run.plan);
        }
        return run;
    }
    run.instant.emplace();
    if (auto done = estimateInstantly(*run.plan, {}, *run.instant); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    Footprint exact = *run.instant;
    if (replay(*run.plan, {}, exact)) {
        run.exact = std::move(exact);
    }
    return run;
}

const TrainingPlan* pointerTo(const std::optional<TrainingPlan>& plan)
{
    return plan ? &*plan : nullptr;
}

RunFigures figuresOfLog(const LoadedLog& log)
{
    RunFigures figures = RunFigures::of(*log.run, log.summary);
    figures.name = fileName(log.paths.front()).toStdString();
    return figures;
}

std::string nameOfPlan(const Workspace& workspace)
{
    return workspace.config() != nullptr ? fileName(workspace.config()->path).toStdString()
                                         : workspace.baselineName().toStdString();
}

/// The log of the run before, or its estimate by the engine asked for.
ComparedSide sideOf(const OtherRun& before, bool isExact)
{
    if (before.measured) {
        return {before.run, before.measuredStages, std::nullopt};
    }
    return {nullptr, {}, isExact ? before.exact : before.instant};
}

RunFigures figuresOf(const OtherRun& before, const ComparedSide& side)
{
    return before.measured ? *before.measured : RunFigures::of(*side.footprint, before.name);
}

} // namespace

HistoryRun OtherRun::forHistory() const
{
    return {figuresOf(*this, sideOf(*this, exact.has_value())), plan};
}

QFuture<OtherRunAnswer> openOtherRun(const std::vector<std::filesystem::path>& paths,
                                     std::shared_ptr<const Library> library, TrainingPlan open)
{
    return QtConcurrent::run([paths, library = std::move(library), open = std::move(open)]() -> OtherRunAnswer {
        return std::make_shared<const Result<OtherRun>>(opened(paths, *library, open));
    });
}

const TrainingPlan* planOfOpenLog(const Workspace& workspace)
{
    if (workspace.config() != nullptr || workspace.model() != nullptr) {
        return &workspace.original().plan;
    }
    const LoadedLog* log = workspace.log();
    return log != nullptr && log->plan ? &*log->plan : nullptr;
}

Result<ComparedRuns> compareWith(const OtherRun& before, const Workspace& after)
{
    const TrainingPlan* planBefore = pointerTo(before.plan);
    const LoadedLog* log = after.log();
    const Footprint* estimate = after.footprint();
    if (log != nullptr && !log->run->isEmpty() && (before.measured || estimate == nullptr)) {
        ComparedRuns runs{{}, sideOf(before, before.exact.has_value()), {log->run, {}, std::nullopt}, std::nullopt};
        if (const TrainingPlan* plan = planOfOpenLog(after)) {
            runs.planAfter = *plan;
            runs.after.measuredStages = measuredPerStage(log->overview, *plan);
        }
        runs.comparison
            = compareRuns(figuresOf(before, runs.before), figuresOfLog(*log), planBefore, pointerTo(runs.planAfter));
        return runs;
    }
    if (estimate == nullptr) {
        return failure(Text{HEADROOM_TR("core", "open a log or a config to compare with")});
    }
    // Figures of two engines would differ by what one of them counts and the other does not.
    const bool isExact = estimate->engine == Engine::Replay && (before.measured || before.exact);
    ComparedRuns runs{{}, sideOf(before, isExact), {nullptr, {}, *estimate}, after.plan()};
    if (!isExact && estimate->engine == Engine::Replay) {
        if (auto done = estimateInstantly(after.plan(), after.draft().calibration, *runs.after.footprint); !done) {
            return tl::unexpected(std::move(done.error()));
        }
    }
    runs.comparison = compareRuns(figuresOf(before, runs.before),
                                  RunFigures::of(*runs.after.footprint, nameOfPlan(after)), planBefore, &after.plan());
    return runs;
}

Result<HistoryRun> currentRun(const Workspace& workspace)
{
    const LoadedLog* log = workspace.log();
    const bool isAsRun
        = workspace.footprint() == nullptr || difference(workspace.plan(), workspace.original().plan).empty();
    if (log != nullptr && !log->run->isEmpty() && isAsRun) {
        const TrainingPlan* plan = planOfOpenLog(workspace);
        return HistoryRun{figuresOfLog(*log), plan != nullptr ? std::optional(*plan) : std::nullopt};
    }
    if (workspace.footprint() == nullptr) {
        return failure(Text{HEADROOM_TR("core", "open a log or a config first")});
    }
    return HistoryRun{RunFigures::of(*workspace.footprint(), nameOfPlan(workspace)), workspace.plan()};
}

} // namespace headroom
