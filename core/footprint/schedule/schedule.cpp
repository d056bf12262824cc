// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/schedule.h"

#include "footprint/schedule/order.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {

namespace {

std::int64_t groupOf(const PipelineShape& pipeline)
{
    return pipeline.group > 0 ? pipeline.group : pipeline.stages;
}

std::int64_t allPasses(const PipelineShape& pipeline)
{
    return pipeline.microBatches * pipeline.chunks;
}

/// Micro-batches at chunk 0 among the first `forwards` chunk passes: passes go round in blocks of group·v, of which the
/// first group is chunk 0's.
std::int64_t firstChunkPasses(const PipelineShape& pipeline, std::int64_t forwards)
{
    const std::int64_t group = groupOf(pipeline);
    const std::int64_t block = group * pipeline.chunks;
    const std::int64_t passes = forwards / block * group + std::min(forwards % block, group);
    return std::min(passes, pipeline.microBatches);
}

InFlight interleaved(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::int64_t passes = std::min(warmupChunks(pipeline, stage) + 1, allPasses(pipeline));
    // Chunk 0 comes last in backward: until then forward passes go on, one for each backward pass of the other chunks.
    const std::int64_t beforeRelease = passes + (pipeline.chunks - 1) * groupOf(pipeline);
    return {static_cast<double>(passes) / static_cast<double>(pipeline.chunks),
            firstChunkPasses(pipeline, std::min(beforeRelease, allPasses(pipeline)))};
}

InFlight atMost(double units, std::int64_t microBatches)
{
    const double held = std::min(units, static_cast<double>(microBatches));
    return {held, static_cast<std::int64_t>(std::ceil(held))};
}

/// ZB-H1 and ZB-H2: `pending` micro-batches wait for their backward, `lag` for their weight gradients.
InFlight delayed(std::int64_t pending, std::int64_t lag, std::int64_t microBatches, double weightShare)
{
    const std::int64_t waiting = std::min(pending, microBatches);
    const std::int64_t rest = std::min(lag, microBatches - waiting);
    return {static_cast<double>(waiting) + static_cast<double>(rest) * weightShare, waiting + rest};
}

/// How many of the passes at first, first + interval, … have come by `time`.
std::int64_t passesBy(std::int64_t time, std::int64_t first, std::int64_t microBatches)
{
    return time < first ? 0 : std::min((time - first) / VBlock::interval + 1, microBatches);
}

/// The most that the passes of the building block hold, looked at after every forward until they repeat.
InFlight folded(const VBlock& block, std::int64_t microBatches, double weightShare)
{
    InFlight most{0, 0};
    const std::int64_t periods = (std::max(block.weights[0], block.weights[1])) / VBlock::interval + 2;
    for (std::int64_t k = 0; k < std::min(periods, microBatches); ++k) {
        for (const std::int64_t start : block.forward) {
            const std::int64_t time = start + k * VBlock::interval;
            std::array<double, 2> held{};
            for (std::size_t chunk = 0; chunk < 2; ++chunk) {
                const std::int64_t rebuilt = passesBy(time, block.backward[chunk], microBatches);
                const std::int64_t waiting = rebuilt - passesBy(time, block.weights[chunk], microBatches);
                held[chunk] = static_cast<double>(passesBy(time, block.forward[chunk], microBatches) - rebuilt)
                    + static_cast<double>(waiting) * weightShare;
            }
            const double units = (held[0] + held[1]) / 2;
            const auto first = static_cast<std::int64_t>(std::ceil(held[0]));
            if (units > most.units) {
                most = {units, first};
            } else if (units == most.units) {
                most.firstChunk = std::max(most.firstChunk, first);
            }
        }
    }
    return most;
}

} // namespace

std::int64_t InFlight::microBatches() const
{
    return static_cast<std::int64_t>(std::ceil(units - 1e-9));
}

std::int64_t warmupChunks(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::int64_t warmup = 2 * (pipeline.stages - stage - 1) + (pipeline.chunks - 1) * groupOf(pipeline);
    return std::min(warmup, allPasses(pipeline));
}

PipelineShape effectivePipeline(PipelineShape pipeline)
{
    if (pipeline.stages <= 1) {
        pipeline.schedule = Schedule::OneForwardOneBackward;
    }
    // Megatron interleaves as soon as there are chunks; without chunks interleaving is plain 1F1B.
    if (pipeline.schedule == Schedule::OneForwardOneBackward && pipeline.chunks > 1 && pipeline.stages > 1) {
        pipeline.schedule = Schedule::Interleaved;
    } else if (pipeline.schedule == Schedule::Interleaved && pipeline.chunks <= 1) {
        pipeline.schedule = Schedule::OneForwardOneBackward;
    }
    return pipeline;
}

InFlight inFlight(const PipelineShape& shape, std::int64_t stage, double weightShare)
{
    const PipelineShape pipeline = effectivePipeline(shape);
    const std::int64_t m = pipeline.microBatches;
    const std::int64_t p = pipeline.stages;
    const std::int64_t i = stage;
    switch (pipeline.schedule) {
    case Schedule::GPipe:
        return atMost(static_cast<double>(m), m);
    case Schedule::OneForwardOneBackward:
        return atMost(static_cast<double>(p - i + pipeline.extra), m);
    case Schedule::Interleaved:
        return interleaved(pipeline, stage);
    case Schedule::ZbH1: // arXiv:2401.10241 section 2.3, stages counted from 0
        return delayed(p - i, i, m, weightShare);
    case Schedule::ZbH2:
        return delayed(2 * p - 2 * i - 1, 2 * i, m, weightShare);
    case Schedule::ZbV: { // weight gradients follow at once until nothing new comes; two chunks make a stage
        const std::int64_t passes = std::min(2 * p - i - 1, m) + std::min(i + 1, m);
        return {static_cast<double>(passes) / 2, std::min(2 * p - i, m)};
    }
    case Schedule::VHalf:
    case Schedule::VMin:
        return folded(vBlock(pipeline.schedule, p, i), m, weightShare);
    case Schedule::DualPipe: // deepseek-ai/DualPipe: p + 1 activations of a pipeline position
        return atMost(static_cast<double>(p + 1), m);
    case Schedule::DualPipeV: // 2p positions on p GPUs, two of them on each: half as much of each stage
        return atMost(static_cast<double>(2 * p + 1) / 2, m);
    }
    return {};
}

double bubbleTime(const PipelineShape& shape, const PassTimes& times)
{
    const PipelineShape pipeline = effectivePipeline(shape);
    const double gaps = static_cast<double>(pipeline.stages - 1);
    const double pass = times.forward + times.backward();
    // A forward and a backward of one position, side by side where the schedule runs them so.
    const double pair = times.overlapped > 0 ? times.overlapped : pass;
    const double overlapping = pair + times.backward() - 3 * times.weightGradient;
    const auto zeroBubble = [&](double weightPasses) {
        return gaps * (times.forward + times.inputGradient - weightPasses * times.weightGradient);
    };
    switch (pipeline.schedule) {
    case Schedule::GPipe:
    case Schedule::OneForwardOneBackward:
        return gaps * pass;
    case Schedule::Interleaved:
        return gaps * pass / static_cast<double>(pipeline.chunks);
    case Schedule::ZbH1:
        return std::max(zeroBubble(1), 0.0);
    case Schedule::ZbH2:
    case Schedule::ZbV: // as free of bubbles with the memory of 1F1B
        return std::max(zeroBubble(2), 0.0);
    case Schedule::VHalf: // arXiv:2405.15362: about half and two thirds of 1F1B's
        return gaps * pass / 2;
    case Schedule::VMin:
        return gaps * pass * 2 / 3;
    case Schedule::DualPipe:
        return std::max((static_cast<double>(pipeline.stages) / 2 - 1) * overlapping, 0.0);
    case Schedule::DualPipeV: // the passes of its 2p positions take half as long as those of p stages
        return std::max(gaps * overlapping / 2, 0.0);
    }
    return 0;
}

double bubbleFraction(const PipelineShape& pipeline, const PassTimes& times)
{
    const double bubble = bubbleTime(pipeline, times);
    const double work = static_cast<double>(pipeline.microBatches) * (times.forward + times.backward());
    return bubble > 0 ? bubble / (work + bubble) : 0;
}

} // namespace headroom
