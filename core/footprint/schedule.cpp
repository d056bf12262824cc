// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule.h"

#include <algorithm>
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
    const auto p = static_cast<double>(pipeline.stages);
    const auto i = static_cast<double>(stage);
    switch (pipeline.schedule) {
    case Schedule::GPipe:
        return atMost(static_cast<double>(m), m);
    case Schedule::OneForwardOneBackward:
        return atMost(p - i, m);
    case Schedule::Interleaved:
        return interleaved(pipeline, stage);
    case Schedule::ZbH1: // arXiv:2401.10241 section 2.3, stages counted from 0
        return atMost(p - i + i * weightShare, m);
    case Schedule::ZbH2:
        return atMost(2 * p - 2 * i - 1 + 2 * i * weightShare, m);
    case Schedule::ZbV:
        return atMost(p, m);
    case Schedule::VHalf: // arXiv:2405.15362, integer forms of its scheduler
        return atMost(std::floor((p + 2) / 2), m);
    case Schedule::VMin:
        return atMost(std::floor((p + 4) / 3), m);
    case Schedule::DualPipe: // deepseek-ai/DualPipe: p + 1 activations of a pipeline position
        return atMost(p + 1, m);
    case Schedule::DualPipeV: // 2p positions on p GPUs, two of them on each: half as much of each stage
        return atMost((2 * p + 1) / 2, m);
    }
    return {};
}

std::int64_t layerCopies(Schedule schedule)
{
    return schedule == Schedule::DualPipe ? 2 : 1;
}

bool isFolded(Schedule schedule)
{
    return schedule == Schedule::ZbV || schedule == Schedule::VHalf || schedule == Schedule::VMin
        || schedule == Schedule::DualPipeV;
}

} // namespace headroom
