// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/schedule/order.h"

#include <algorithm>

namespace headroom {

namespace {

using Kind = StagePass::Kind;

/// Writes down passes; every chunk's micro-batches follow each other in every kind of pass.
class OrderWriter
{
public:
    void forward(std::size_t chunk) { add(Kind::Forward, chunk, m_forward[chunk]++); }
    /// `isSplit`: the weight gradients wait for weights().
    void backward(std::size_t chunk, bool isSplit = false)
    {
        add(isSplit ? Kind::InputGradient : Kind::Backward, chunk, m_backward[chunk]);
        if (isSplit) {
            m_waiting.push_back({Kind::WeightGradient, chunk, m_backward[chunk]});
        }
        ++m_backward[chunk];
    }
    /// Those that wait longest.
    void weights() { order.push_back(m_waiting[m_started++]); }
    [[nodiscard]] std::size_t waiting() const { return m_waiting.size() - m_started; }

    std::vector<StagePass> order;

private:
    void add(Kind kind, std::size_t chunk, std::int64_t microBatch) { order.push_back({kind, chunk, microBatch}); }

    std::array<std::int64_t, 2> m_forward{}, m_backward{};
    std::vector<StagePass> m_waiting;
    std::size_t m_started = 0;
};

/// Megatron-LM pipeline_parallel/schedules.py; GPipe fills the pipeline with everything.
std::vector<StagePass> plainOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::int64_t m = pipeline.microBatches;
    const bool fills = pipeline.schedule == Schedule::GPipe;
    const std::int64_t warmUp = fills ? m : std::min(pipeline.stages - 1 - stage, m);
    OrderWriter writer;
    for (std::int64_t i = 0; i < m + warmUp; ++i) {
        if (i < m) {
            writer.forward(0);
        }
        if (i >= warmUp) {
            writer.backward(0);
        }
    }
    return std::move(writer.order);
}

/// Groups of micro-batches pass through all chunks, one after the other; backward through the last chunk first.
std::vector<StagePass> interleavedOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::int64_t group = pipeline.group > 0 ? pipeline.group : pipeline.stages;
    std::vector<StagePass> forwards, backwards;
    for (std::int64_t first = 0; first < pipeline.microBatches; first += group) {
        const std::int64_t end = std::min(first + group, pipeline.microBatches);
        for (std::int64_t chunk = 0; chunk < pipeline.chunks; ++chunk) {
            for (std::int64_t micro = first; micro < end; ++micro) {
                forwards.push_back({Kind::Forward, static_cast<std::size_t>(chunk), micro});
                backwards.push_back({Kind::Backward, static_cast<std::size_t>(pipeline.chunks - 1 - chunk), micro});
            }
        }
    }
    const auto warmUp = static_cast<std::size_t>(warmupChunks(pipeline, stage));
    std::vector<StagePass> order;
    for (std::size_t i = 0; i < forwards.size() + warmUp; ++i) {
        if (i < forwards.size()) {
            order.push_back(forwards[i]);
        }
        if (i >= warmUp) {
            order.push_back(backwards[i - warmUp]);
        }
    }
    return order;
}

/// arXiv:2401.10241 section 2.2: more forwards (ZB-H2) before the first backward, weight gradients as many
/// micro-batches late as the stage is far from the first.
std::vector<StagePass> zeroBubbleOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    const bool isSecond = pipeline.schedule == Schedule::ZbH2;
    const std::int64_t pending = isSecond ? 2 * (pipeline.stages - stage) - 1 : pipeline.stages - stage;
    const auto lag = static_cast<std::size_t>(isSecond ? 2 * stage : stage);
    const std::int64_t m = pipeline.microBatches;
    OrderWriter writer;
    for (std::int64_t i = 0; i < std::min(pending, m); ++i) {
        writer.forward(0);
    }
    for (std::int64_t i = 0; i < m; ++i) {
        writer.backward(0, true);
        if (writer.waiting() > lag) {
            writer.weights();
        }
        if (i + pending < m) {
            writer.forward(0);
        }
    }
    while (writer.waiting() > 0) {
        writer.weights();
    }
    return std::move(writer.order);
}

/// PyTorch's ScheduleZBVZeroBubble (torch/distributed/pipelining/schedules.py). It is written for at least 2p − 1
/// micro-batches; the passes of those that are not there are left out.
std::vector<StagePass> zeroBubbleVOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    const std::int64_t p = pipeline.stages;
    const std::int64_t all = std::max(2 * p - 1, pipeline.microBatches);
    OrderWriter writer;
    std::int64_t first = 0, second = 0; // forwards of both chunks
    const auto forward = [&](std::size_t chunk) {
        writer.forward(chunk);
        ++(chunk == 0 ? first : second);
    };
    const auto backward = [&](std::size_t chunk) {
        writer.backward(chunk, true);
        writer.weights();
    };
    for (std::int64_t i = 0; i < 2 * (p - stage) - 1; ++i) {
        forward(0);
    }
    for (std::int64_t i = 0; i < stage; ++i) {
        forward(1);
        forward(0);
    }
    for (std::int64_t i = 0; i < p - stage; ++i) {
        forward(1);
        backward(1);
    }
    while (second < first || first < all) {
        if (first < all) {
            forward(0);
        }
        backward(0);
        forward(1);
        backward(1);
    }
    for (std::int64_t i = 0; i < stage; ++i) {
        writer.backward(0, true);
        writer.backward(1, true);
    }
    for (std::int64_t i = 0; i < p - stage; ++i) {
        writer.backward(0, true);
        writer.weights();
    }
    while (writer.waiting() > 0) {
        writer.weights();
    }
    std::erase_if(writer.order, [&](const StagePass& pass) { return pass.microBatch >= pipeline.microBatches; });
    return std::move(writer.order);
}

std::vector<StagePass> blockOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    struct Timed
    {
        std::int64_t time;
        StagePass pass;
    };
    const VBlock block = vBlock(pipeline.schedule, pipeline.stages, stage);
    std::vector<Timed> passes;
    for (std::int64_t micro = 0; micro < pipeline.microBatches; ++micro) {
        const std::int64_t start = micro * VBlock::interval;
        for (std::size_t chunk = 0; chunk < 2; ++chunk) {
            passes.push_back({start + block.forward[chunk], {Kind::Forward, chunk, micro}});
            passes.push_back({start + block.backward[chunk], {Kind::InputGradient, chunk, micro}});
            passes.push_back({start + block.weights[chunk], {Kind::WeightGradient, chunk, micro}});
        }
    }
    std::sort(passes.begin(), passes.end(), [](const Timed& a, const Timed& b) { return a.time < b.time; });
    std::vector<StagePass> order;
    order.reserve(passes.size());
    for (const Timed& timed : passes) {
        order.push_back(timed.pass);
    }
    return order;
}

/// The eight steps of deepseek-ai/DualPipe, dualpipe.py and dualpipev.py, which differ only in what a place is: the
/// distance to the nearer end of the pipeline, or the stage.
std::vector<StagePass> dualPipeOrder(const PipelineShape& pipeline, std::int64_t stage)
{
    const bool isV = pipeline.schedule == Schedule::DualPipeV;
    const std::int64_t places = isV ? pipeline.stages : pipeline.stages / 2;
    const std::int64_t place = isV ? stage : std::min(stage, pipeline.stages - 1 - stage);
    const std::int64_t each = isV ? pipeline.microBatches : pipeline.microBatches / 2;
    const std::int64_t behind = places - place - 1;
    OrderWriter writer;
    const auto repeat = [](std::int64_t times, const auto& step) {
        for (std::int64_t i = 0; i < times; ++i) {
            step(i);
        }
    };
    repeat(2 * behind, [&](std::int64_t) { writer.forward(0); });
    repeat(place + 1, [&](std::int64_t) {
        writer.forward(0);
        writer.forward(1);
    });
    repeat(behind, [&](std::int64_t) {
        writer.backward(1, true);
        writer.weights();
        writer.forward(1);
    });
    repeat(each - 2 * places + place + 1, [&](std::int64_t) {
        writer.forward(0);
        writer.backward(1);
        writer.forward(1);
        writer.backward(0);
    });
    repeat(behind, [&](std::int64_t) {
        writer.backward(1);
        writer.forward(1);
        writer.backward(0);
    });
    bool isSplit = false; // from the middle on
    repeat(place + 1, [&](std::int64_t i) {
        const bool isMiddle = i == (place + 1) / 2;
        isSplit = isSplit || (isMiddle && place % 2 == 1);
        writer.backward(1, isSplit);
        isSplit = isSplit || isMiddle;
        writer.backward(0, isSplit);
    });
    repeat(behind, [&](std::int64_t) {
        writer.weights();
        writer.backward(0, true);
    });
    repeat(place + 1, [&](std::int64_t) { writer.weights(); });
    return std::move(writer.order);
}

} // namespace

bool canRun(const PipelineShape& shape)
{
    const PipelineShape pipeline = effectivePipeline(shape);
    if (pipeline.schedule == Schedule::DualPipe) {
        return pipeline.stages % 2 == 0 && pipeline.microBatches % 2 == 0
            && pipeline.microBatches >= 2 * pipeline.stages;
    }
    return pipeline.schedule != Schedule::DualPipeV || pipeline.microBatches >= 2 * pipeline.stages;
}

VBlock vBlock(Schedule schedule, std::int64_t stages, std::int64_t stage)
{
    // Of each way through the stages: units between two of them, and before its first pass.
    struct Way
    {
        std::int64_t step, gap;
    };
    std::array<Way, 4> ways{{{1, 0}, {1, 1}, {1, stages % 3 == 0 ? 3 : 1}, {1, 1}}};
    if (schedule == Schedule::VHalf && stages % 2 == 1) {
        ways = {{{2, 0}, {1, 1}, {2, 1}, {1, 2}}};
    } else if (schedule == Schedule::VHalf) {
        ways = {{{2, 0}, {1, 1}, {2, 4}, {1, 2}}};
    }
    std::array<std::int64_t, 4> times{};
    std::int64_t start = 0;
    for (std::size_t way = 0; way < ways.size(); ++way) {
        start += ways[way].gap;
        times[way] = start + ways[way].step * (way % 2 == 0 ? stage : stages - 1 - stage); // down, then up again
        start += ways[way].step * (stages - 1);
    }
    VBlock block;
    block.forward = {times[0], times[1]};
    block.backward = {times[3], times[2]};
    // The weight gradients take the next of the two moments in the interval that are left.
    std::array<bool, VBlock::interval> isTaken{};
    const auto moment = [](std::int64_t time) { return static_cast<std::size_t>(time % VBlock::interval); };
    for (const std::int64_t time : times) {
        isTaken[moment(time)] = true;
    }
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{0}}) {
        std::int64_t time = block.backward[chunk] + 1;
        while (isTaken[moment(time)]) {
            ++time;
        }
        isTaken[moment(time)] = true;
        block.weights[chunk] = time;
    }
    return block;
}

std::vector<StagePass> stageOrder(const PipelineShape& shape, std::int64_t stage)
{
    const PipelineShape pipeline = effectivePipeline(shape);
    switch (pipeline.schedule) {
    case Schedule::GPipe:
    case Schedule::OneForwardOneBackward:
        return plainOrder(pipeline, stage);
    case Schedule::Interleaved:
        return interleavedOrder(pipeline, stage);
    case Schedule::ZbH1:
    case Schedule::ZbH2:
        return zeroBubbleOrder(pipeline, stage);
    case Schedule::ZbV:
        return zeroBubbleVOrder(pipeline, stage);
    case Schedule::VHalf:
    case Schedule::VMin:
        return blockOrder(pipeline, stage);
    case Schedule::DualPipe:
    case Schedule::DualPipeV:
        return dualPipeOrder(pipeline, stage);
    }
    return {};
}

} // namespace headroom
