// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/replay_job.h"

#include "footprint/estimate.h"
#include "replay/replay.h"

#include <QPromise>
#include <QtConcurrentRun>

#include <algorithm>

namespace headroom {

ReplayJob::ReplayJob(QObject* parent)
    : QObject(parent)
{
    m_futures.setCancelOnWait(true);
    connect(&m_watcher, &QFutureWatcher<Part>::resultReadyAt, this, &ReplayJob::take);
    connect(&m_watcher, &QFutureWatcher<Part>::finished, this, &ReplayJob::finish);
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
    m_footprint = {};
    m_timelines.clear();
    m_objection.reset();
    m_isComplete = false;
}

ReplayJob::Timeline ReplayJob::timeline(int stage) const
{
    return stage >= 0 && static_cast<std::size_t>(stage) < m_timelines.size()
        ? m_timelines[static_cast<std::size_t>(stage)]
        : nullptr;
}

void ReplayJob::work(QPromise<Part>& promise, const Draft& draft, const Wanted& wanted)
{
    auto instant = std::make_shared<Footprint>();
    Part first;
    if (auto done = estimateInstantly(draft.plan, draft.calibration, *instant); !done) {
        first.objection = done.error().text;
    } else if (instant->engine == Engine::Textbook) {
        first.objection = instant->notExact.value_or(Text{HEADROOM_TR("core", "no tape describes the plan")});
    }
    ModelProgram program;
    if (!first.objection) {
        if (auto built = buildProgram(draft.plan, program); !built) {
            first.objection = built.error().text;
        } else {
            first.objection = objectionToReplay(program);
        }
    }
    if (first.objection) {
        promise.addResult(first);
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
        Part part{stage,
                  instant->stages[stage],
                  std::make_shared<StepTimeline>(stepTimeline(program, replay)),
                  left == isDone.size() ? instant : nullptr,
                  {}};
        takeReplay(replay, part.figures);
        isDone[stage] = true;
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
    if (part.instant) {
        m_footprint = *part.instant;
        m_timelines.assign(m_footprint.stages.size(), nullptr);
    }
    m_footprint.stages[part.stage] = part.figures;
    m_timelines[part.stage] = part.timeline;
    emit stageReplayed(static_cast<int>(part.stage));
}

void ReplayJob::finish()
{
    if (m_watcher.isCanceled()) {
        return;
    }
    const bool hasAll = !m_timelines.empty()
        && std::all_of(m_timelines.begin(), m_timelines.end(), [](const Timeline& each) { return each != nullptr; });
    if (hasAll) {
        m_footprint.engine = Engine::Replay;
        m_footprint.fullestStage = fullestOf(m_footprint.stages);
        m_isComplete = true;
    }
    emit finished();
}

} // namespace headroom
