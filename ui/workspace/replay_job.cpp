// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/replay_job.h"

#include "footprint/estimate.h"
#include "footprint/outlook/uncertainty.h"
#include "replay/replay.h"

#include <QPromise>
#include <QtConcurrentRun>

#include <algorithm>

namespace headroom {
namespace {

/// The instant figures and the tapes; the reason where the plan cannot be replayed.
std::optional<Text> prepare(const Draft& draft, Footprint& instant, ModelProgram& program)
{
    if (auto done = estimateInstantly(draft.plan, draft.calibration, instant); !done) {
        return done.error().text;
    }
    if (instant.engine == Engine::Textbook) {
        return instant.notExact.value_or(Text{HEADROOM_TR("core", "no tape describes the plan")});
    }
    if (auto built = buildProgram(draft.plan, program); !built) {
        return built.error().text;
    }
    return objectionToReplay(program);
}

} // namespace

ReplayJob::ReplayJob(QObject* parent)
    : QObject(parent)
{
    m_futures.setCancelOnWait(true);
    connect(&m_watcher, &QFutureWatcher<Part>::resultReadyAt, this, &ReplayJob::take);
    connect(&m_watcher, &QFutureWatcher<Part>::finished, this, [this] {
        if (!m_watcher.isCanceled()) {
            emit finished();
        }
    });
}

ReplayJob::~ReplayJob()
{
    m_watcher.disconnect(this);
    m_watcher.cancel();
    m_futures.waitForFinished();
}

void ReplayJob::start(const Draft& draft, int wantedStage)
{
    cancel();
    m_wanted = std::make_shared<std::atomic<int>>(wantedStage);
    QFuture<Part> future
        = QtConcurrent::run([draft, wanted = m_wanted](QPromise<Part>& promise) { work(promise, draft, wanted); });
    if (!m_watcher.isRunning()) {
        m_futures.clearFutures();
    }
    m_futures.addFuture(future);
    m_watcher.setFuture(future);
}

void ReplayJob::want(int stage)
{
    if (m_wanted) {
        m_wanted->store(stage);
    }
}

void ReplayJob::cancel()
{
    m_watcher.cancel();
    m_footprint.reset();
    m_timelines.clear();
    m_tensors.clear();
    m_objection.reset();
}

ReplayJob::Timeline ReplayJob::timeline(int stage) const
{
    return stage >= 0 && static_cast<std::size_t>(stage) < m_timelines.size()
        ? m_timelines[static_cast<std::size_t>(stage)]
        : nullptr;
}

const PeakTensors* ReplayJob::peakTensors(int stage) const
{
    return timeline(stage) ? &m_tensors[static_cast<std::size_t>(stage)] : nullptr;
}

void ReplayJob::work(QPromise<Part>& promise, const Draft& draft, const Wanted& wanted)
{
    auto exact = std::make_shared<Footprint>();
    ModelProgram program;
    if (auto objection = prepare(draft, *exact, program)) {
        Part part;
        part.objection = std::move(objection);
        promise.addResult(std::move(part));
        return;
    }
    ReplayOptions options;
    options.recordsTimeline = true;
    options.isCancelled = [&promise] { return promise.isCanceled(); };
    std::vector<bool> isDone(program.stages.size());
    for (std::size_t left = isDone.size(); left > 0; --left) {
        const auto preferred = static_cast<std::size_t>(std::max(wanted->load(), 0));
        const std::size_t stage = preferred < isDone.size() && !isDone[preferred]
            ? preferred
            : static_cast<std::size_t>(std::find(isDone.begin(), isDone.end(), false) - isDone.begin());
        const StageReplay replay = replayStage(program, program.stages[stage], options);
        if (promise.isCanceled()) {
            return;
        }
        takeReplay(replay, exact->stages[stage]);
        isDone[stage] = true;
        Part part{stage,
                  isDone.size(),
                  std::make_shared<StepTimeline>(stepTimeline(program, replay)),
                  replay.peakTensors,
                  nullptr,
                  {}};
        if (left == 1) {
            exact->engine = Engine::Replay;
            calibrate(*exact, draft.calibration);
            exact->fullestStage = fullestOf(exact->stages);
            (void)describeUncertainty(draft.plan, draft.calibration, *exact);
            part.complete = exact;
        }
        promise.addResult(std::move(part));
    }
}

void ReplayJob::take(int index)
{
    if (m_watcher.isCanceled()) {
        return;
    }
    const Part part = m_watcher.resultAt(index);
    if (part.objection) {
        m_objection = part.objection;
        return;
    }
    m_timelines.resize(part.stageCount);
    m_tensors.resize(part.stageCount);
    m_timelines[part.stage] = part.timeline;
    m_tensors[part.stage] = part.tensors;
    m_footprint = part.complete;
    emit stageReplayed(static_cast<int>(part.stage));
}

} // namespace headroom
