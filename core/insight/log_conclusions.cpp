// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/log_conclusions.h"

#include "footprint/outlook/uncertainty.h"
#include "insight/rule.h"

#include <algorithm>
#include <utility>

namespace headroom {

namespace {

/// Only less memory mends these; the others are of the allocator, of other processes or of a limit.
bool isShort(const OutOfMemory& message)
{
    return message.cause == OutOfMemoryCause::Shortage || message.cause == OutOfMemoryCause::GiantBlock
        || message.cause == OutOfMemoryCause::Unknown;
}

std::optional<Bytes> capacityOf(const OutOfMemory& message, const TrainingPlan& plan)
{
    if (message.capacity) {
        return message.capacity;
    }
    const Count& capacity = plan.hardware.capacityBytes;
    return capacity.isKnown() ? std::optional(Bytes{capacity.value}) : std::nullopt;
}

/// The smallest change with which as much stays free as the run needed beyond its estimate.
std::optional<FitAnswer> whatWouldFit(const Situation& situation, const TrainingPlan& plan, const Shortage& shortage,
                                      const std::stop_token& stop)
{
    const auto capacity = capacityOf(shortage.message, plan);
    if (!isShort(shortage.message) || !capacity || shortage.unexplained >= *capacity) {
        return std::nullopt;
    }
    FitQuestion question;
    question.plan = &plan;
    question.capacity = *capacity - shortage.unexplained;
    question.estimator = situation.estimator;
    question.exact = situation.exact;
    question.constraints.lacking = situation.lacking;
    question.stop = stop;
    auto answer = smallestChangeThatFits(question);
    return answer ? std::optional(std::move(*answer)) : std::nullopt;
}

std::optional<Shortage> shortageOf(const Situation& situation, const std::stop_token& stop)
{
    std::vector<OutOfMemory> messages = outOfMemoryOf(*situation.run);
    if (messages.empty()) {
        return std::nullopt;
    }
    Shortage shortage;
    shortage.message = std::move(messages.front());
    const OutOfMemory& message = shortage.message;
    const TrainingPlan* plan = loggedPlan(situation);
    Footprint footprint;
    if (plan == nullptr || !situation.estimator(*plan, {}, footprint)) {
        return shortage;
    }
    shortage.stage = stageOfRank(*plan, message.rank);
    if (shortage.stage && *shortage.stage >= footprint.stages.size()) {
        shortage.stage.reset();
    }
    shortage.estimated = footprint.stages[shortage.stage.value_or(footprint.fullestStage)].peakAllocated;
    if (message.requested) {
        shortage.tensors = tensorsOfSize(*message.requested, *plan, shortage.stage, message.phase);
    }
    if (message.requested && message.allocated) {
        shortage.unexplained = std::max(*message.allocated + *message.requested - shortage.estimated, Bytes{});
    }
    shortage.answer = whatWouldFit(situation, *plan, shortage, stop);
    return shortage;
}

std::optional<Calibrated> measuredOf(const Situation& situation)
{
    const TrainingPlan* plan = loggedPlan(situation);
    if (plan == nullptr || situation.run->isEmpty()) {
        return std::nullopt;
    }
    const auto points = calibrationPoints(*situation.run, *situation.summary, *plan);
    auto measured = points ? calibrate(*points, situation.estimator) : tl::unexpected(points.error());
    return measured ? std::optional(std::move(*measured)) : std::nullopt;
}

std::optional<ReservedPeak> reservedOf(const Situation& situation)
{
    const TrainingPlan* plan = loggedPlan(situation);
    const RunSummary* summary = situation.summary;
    Footprint footprint;
    if (plan == nullptr || summary == nullptr || summary->peak || !summary->reservedPeak
        || !situation.estimator(*plan, {}, footprint)) {
        return std::nullopt;
    }
    if (situation.exact != nullptr && !situation.exact(*plan, {}, everyPeak, footprint)) {
        return std::nullopt;
    }
    static_cast<void>(describeUncertainty(*plan, {}, footprint));
    ReservedPeak peak;
    peak.record = *summary->reservedPeak;
    peak.stage = stageOfRank(*plan, situation.run->record(peak.record).rank);
    if (peak.stage && *peak.stage >= footprint.stages.size()) {
        peak.stage.reset();
    }
    for (std::size_t i = 0; i < footprint.stages.size(); ++i) {
        const StageFootprint& stage = footprint.stages[i];
        if (!stage.intervals || (peak.stage && *peak.stage != i)) {
            continue;
        }
        const Interval own = stage.intervals->reserved;
        const bool isFirst = peak.estimated.high.value == 0;
        peak.estimated.low = isFirst ? own.low : std::min(peak.estimated.low, own.low);
        peak.estimated.high = std::max(peak.estimated.high, own.high);
    }
    return peak.estimated.high.value > 0 ? std::optional(peak) : std::nullopt;
}

} // namespace

const TrainingPlan* loggedPlan(const Situation& situation)
{
    return situation.original != nullptr ? situation.original : situation.plan;
}

LogConclusions concludeFromLog(const Situation& situation, const std::stop_token& stop)
{
    LogConclusions conclusions;
    conclusions.measured = measuredOf(situation);
    if (!stop.stop_requested()) {
        conclusions.shortage = shortageOf(situation, stop);
    }
    if (!stop.stop_requested()) {
        conclusions.reserved = reservedOf(situation);
    }
    return conclusions;
}

} // namespace headroom
