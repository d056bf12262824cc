// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/other_run.h"

#include "footprint/estimate.h"
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
        if (!run.plan) {
            run.plan = files.log->plan;
        }
        return run;
    }
    Footprint footprint;
    if (auto done = estimateInstantly(*run.plan, {}, footprint); !done) {
        return tl::unexpected(std::move(done.error()));
    }
    run.instant = RunFigures::of(footprint, run.name);
    if (replay(*run.plan, {}, footprint)) {
        run.exact = RunFigures::of(footprint, run.name);
    }
    return run;
}

} // namespace

QFuture<OtherRunAnswer> openOtherRun(const std::vector<std::filesystem::path>& paths,
                                     std::shared_ptr<const Library> library, TrainingPlan open)
{
    return QtConcurrent::run([paths, library = std::move(library), open = std::move(open)]() -> OtherRunAnswer {
        return std::make_shared<const Result<OtherRun>>(opened(paths, *library, open));
    });
}

Result<RunComparison> compareWith(const OtherRun& before, const Workspace& after)
{
    const TrainingPlan* planBefore = before.plan ? &*before.plan : nullptr;
    const bool hasPlan = after.config() != nullptr || after.model() != nullptr;
    const LoadedLog* log = after.log();
    if (log != nullptr && !log->run->isEmpty() && (before.measured || after.footprint() == nullptr)) {
        RunFigures measured = RunFigures::of(*log->run, log->summary);
        measured.name = fileName(log->paths.front()).toStdString();
        const TrainingPlan* logged = log->plan ? &*log->plan : nullptr;
        return compareRuns(before.measured ? *before.measured : *before.instant, std::move(measured), planBefore,
                           hasPlan ? &after.original().plan : logged);
    }
    if (after.footprint() == nullptr) {
        return failure(Text{HEADROOM_TR("core", "open a log or a config to compare with")});
    }
    const std::string name
        = after.config() != nullptr ? fileName(after.config()->path).toStdString() : after.baselineName().toStdString();
    if (before.exact && after.footprint()->engine == Engine::Replay) {
        return compareRuns(*before.exact, RunFigures::of(*after.footprint(), name), planBefore, &after.plan());
    }
    // Figures of two engines would differ by what one of them counts and the other does not.
    Footprint footprint = *after.footprint();
    if (before.instant && footprint.engine == Engine::Replay) {
        if (auto done = estimateInstantly(after.plan(), after.draft().calibration, footprint); !done) {
            return tl::unexpected(std::move(done.error()));
        }
    }
    return compareRuns(before.measured ? *before.measured : *before.instant, RunFigures::of(footprint, name),
                       planBefore, &after.plan());
}

} // namespace headroom
