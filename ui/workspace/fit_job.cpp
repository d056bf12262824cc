// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/fit_job.h"

#include "insight/rule.h"
#include "plan/batch.h"
#include "replay/replay.h"

#include <QtConcurrentRun>

#include <string>
#include <utility>

namespace headroom {
namespace {

std::int64_t gpusWith(const TrainingPlan& plan, const std::vector<PlanEdit>& edits)
{
    const auto changed = edited(plan, edits);
    return worldSize(changed ? *changed : plan);
}

std::optional<FitLimit> limitOf(const TrainingPlan& plan, const char* field, std::optional<std::int64_t> value,
                                const FitConstraints& constraints)
{
    if (!value) {
        return std::nullopt;
    }
    auto edits = linkedEdits(plan, {{field, std::to_string(*value)}}, constraints);
    return FitLimit{*value, edits ? std::move(*edits) : std::vector<PlanEdit>()};
}

} // namespace

FitJob::FitJob(QObject* parent)
    : QObject(parent)
{
    connect(&m_watcher, &QFutureWatcher<Report>::finished, this, &FitJob::take);
}

FitJob::~FitJob()
{
    m_watcher.disconnect(this);
    m_stop.request_stop();
    m_watcher.waitForFinished();
}

void FitJob::start(const FitRequest& request)
{
    m_isWanted = true;
    if (m_watcher.isRunning()) {
        m_next = request;
        m_stop.request_stop();
    } else {
        begin(request);
    }
}

void FitJob::cancel()
{
    m_next.reset();
    m_isWanted = false;
    m_stop.request_stop();
}

FitJob::Report FitJob::work(FitRequest request, const std::stop_token& stop)
{
    auto report = std::make_shared<FitReport>(FitReport{std::move(request), FitAnswer(), {}, {}, {}, {}});
    const TrainingPlan& plan = report->request.draft.plan;
    FitQuestion question;
    question.plan = &plan;
    question.capacity = report->request.capacity;
    question.margin = report->request.margin;
    question.constraints = report->request.constraints;
    question.calibration = report->request.draft.calibration;
    question.exact = replayWithin;
    question.stop = stop;
    report->answer = smallestChangeThatFits(question);
    if (!report->answer) {
        return report;
    }
    const FitAnswer& answer = *report->answer;
    for (const auto* proposals : {&answer.singles, &answer.pairs}) {
        for (const FitProposal& proposal : *proposals) {
            report->gpus.push_back(gpusWith(plan, proposal.edits));
        }
    }
    if (answer.closest) {
        report->gpus.push_back(gpusWith(plan, answer.closest->edits));
    }
    for (const FitProposal& proposal : answer.adapters) {
        report->gpus.push_back(gpusWith(plan, proposal.edits));
    }
    FitConstraints anyBatch = question.constraints;
    anyBatch.keepGlobalBatch = false; // as largestMicroBatch() has it
    report->microBatch = limitOf(plan, "batch.micro", largestMicroBatch(question), anyBatch);
    report->sequence = limitOf(plan, "batch.seq", longestSequence(question), question.constraints);
    if (const auto fewest = fewestGpus(question)) {
        report->fewestGpus = FitLimit{gpusWith(plan, fewest->edits), fewest->edits};
    }
    return report;
}

void FitJob::begin(FitRequest request)
{
    m_stop = {};
    m_watcher.setFuture(QtConcurrent::run([request = std::move(request), stop = m_stop.get_token()]() mutable {
        return work(std::move(request), stop);
    }));
}

void FitJob::take()
{
    if (m_next) {
        begin(*std::exchange(m_next, std::nullopt));
    } else if (std::exchange(m_isWanted, false)) {
        emit finished(m_watcher.result());
    }
}

} // namespace headroom
