// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/step_timeline.h"

#include "replay/replay.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headroom {

namespace {

constexpr double forwardWidth = 1, backwardWidth = 2;

bool isSamePass(const TimelinePoint& a, const TimelinePoint& b)
{
    return a.phase == b.phase && a.chunk == b.chunk && a.microBatch == b.microBatch;
}

/// Layers of the first forward pass.
double firstForwardWidth(const std::vector<TimelinePoint>& points)
{
    const auto last = std::find_if(points.begin(), points.end(),
                                   [&](const TimelinePoint& point) { return !isSamePass(point, points.front()); });
    return forwardWidth * static_cast<double>(last - points.begin());
}

std::int64_t mostInFlight(const std::vector<StepTimeline::Pass>& passes)
{
    std::set<std::int32_t> alive;
    std::vector<std::pair<std::int32_t, int>> chunksLeft;
    std::size_t most = 0;
    for (const StepTimeline::Pass& pass : passes) {
        if (pass.isEncoder) {
            continue;
        }
        auto left = std::find_if(chunksLeft.begin(), chunksLeft.end(),
                                 [&](const auto& entry) { return entry.first == pass.microBatch; });
        if (pass.phase == Phase::Forward) {
            if (left == chunksLeft.end()) {
                chunksLeft.emplace_back(pass.microBatch, 0);
                left = std::prev(chunksLeft.end());
            }
            ++left->second;
            most = std::max(most, chunksLeft.size());
        } else if (left != chunksLeft.end() && --left->second == 0) {
            chunksLeft.erase(left);
        }
    }
    return static_cast<std::int64_t>(most);
}

/// Adds a point's span to the pass that ends there, or joins it to the pass's last span.
void addSpan(StepTimeline& timeline, const TimelinePoint& point, double width, bool joins)
{
    StepTimeline::Pass& pass = timeline.passes.back();
    const StepTimeline::Span span{pass.end, pass.end + width, static_cast<std::uint32_t>(timeline.passes.size() - 1),
                                  point.isRebuilding, point.components};
    pass.end = span.end;
    if (!joins) {
        timeline.spans.push_back(span);
        return;
    }
    StepTimeline::Span& last = timeline.spans.back();
    if (span.allocated() > last.allocated()) {
        last.components = span.components;
        last.isRebuilding = span.isRebuilding;
    }
    last.end = span.end;
}

} // namespace

Bytes StepTimeline::Span::allocated() const
{
    Bytes sum;
    for (const Bytes bytes : components) {
        sum += bytes;
    }
    return sum;
}

std::optional<std::size_t> StepTimeline::spanAt(double position) const
{
    if (!(position >= 0) || position > width() || spans.empty()) {
        return std::nullopt;
    }
    const auto after = std::upper_bound(spans.begin(), spans.end(), position,
                                        [](double at, const Span& span) { return at < span.end; });
    return after == spans.end() ? spans.size() - 1 : static_cast<std::size_t>(after - spans.begin());
}

StepTimeline stepTimeline(const ModelProgram& program, const StageReplay& replay, std::size_t mostSpans)
{
    StepTimeline timeline;
    timeline.schedule = program.shape.schedule;
    timeline.chunks = program.shape.chunks;
    timeline.microBatches = program.shape.microBatches;
    timeline.walkedMicroBatches = replay.microBatches;
    const auto& points = replay.timeline;
    if (points.empty()) {
        return timeline;
    }
    const double optimizerWidth = std::max(firstForwardWidth(points), forwardWidth);
    const std::size_t perSpan
        = std::max<std::size_t>(1, (points.size() + mostSpans - 1) / std::max<std::size_t>(1, mostSpans));
    std::size_t inSpan = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const TimelinePoint& point = points[i];
        const bool isNewPass = i == 0 || !isSamePass(point, points[i - 1]);
        if (isNewPass) {
            const double begin = timeline.width();
            const bool isEncoder = point.microBatch >= 0 && point.chunk >= program.shape.chunks;
            timeline.passes.push_back({point.phase, point.chunk, point.microBatch, begin, begin, isEncoder});
        }
        const double width = point.phase == Phase::Optimizer      ? optimizerWidth
            : point.phase == Phase::Forward || point.isRebuilding ? forwardWidth
                                                                  : backwardWidth;
        const bool joins = !isNewPass && inSpan < perSpan;
        inSpan = joins ? inSpan + 1 : 1;
        addSpan(timeline, point, width, joins);
    }
    const auto highest = std::max_element(
        timeline.spans.begin(), timeline.spans.end(),
        [](const StepTimeline::Span& a, const StepTimeline::Span& b) { return a.allocated() < b.allocated(); });
    timeline.peak = static_cast<std::size_t>(highest - timeline.spans.begin());
    timeline.inFlight = mostInFlight(timeline.passes);
    return timeline;
}

} // namespace headroom
