// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/rests.h"

#include "footprint/instant/block_pool.h"
#include "footprint/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace headroom {

namespace {

using Tensors = std::vector<std::int64_t>;

Tensors scaled(Tensors tensors, std::int64_t bytes)
{
    for (std::int64_t& tensor : tensors) {
        tensor *= bytes;
    }
    return tensors;
}

/// Micro-batches on their way forward through a stage, and what is alive behind them.
class ForwardPass
{
public:
    ForwardPass(const ModelProgram& program, const StageProgram& stage, const Segments& state)
        : m_program(program)
        , m_stage(stage)
        , m_pool(state)
    {
    }

    void run()
    {
        for (const Chunk& chunk : m_stage.chunks) {
            for (const PieceRun& run : chunk.runs) {
                const Tape& tape = m_program.pieces[run.piece].tape;
                for (std::int64_t i = 0; i < run.count; ++i) {
                    play(tape);
                    if (run.checkpointGroup > 0) {
                        m_rebuilt = i + 1 < run.count ? Held{} : savedBy(tape);
                        dropSaved(tape);
                    }
                }
            }
        }
    }

    struct Held
    {
        std::int64_t bytes = 0, rests = 0;
    };
    [[nodiscard]] Held held() const { return m_held; }
    /// By the recomputed layer that is built again first.
    [[nodiscard]] Held rebuilt() const { return m_rebuilt; }
    [[nodiscard]] const std::vector<std::int64_t>& segments() const { return m_pool.segments(); }

private:
    /// Those of the tape's own storages.
    void play(const Tape& tape)
    {
        m_blocks.assign(tape.slotCount, BlockPool::none);
        for (const Tape::Event& event : tape.forward) {
            if (event.slot < Tape::firstLocal || event.slot >= tape.slotCount) {
                continue;
            }
            if (event.op == Tape::Op::Allocate) {
                m_blocks[event.slot] = m_pool.allocate(event.bytes);
                count(event, 1);
            } else if (event.op == Tape::Op::Free) {
                free(event);
            }
        }
    }

    [[nodiscard]] Held savedBy(const Tape& tape) const
    {
        Held held;
        for (const Tape::Event& storage : tape.saved) {
            held.bytes += storage.bytes;
            held.rests += restOf(storage);
        }
        return held;
    }

    void dropSaved(const Tape& tape)
    {
        for (const Tape::Event& storage : tape.saved) {
            free(storage);
        }
    }

    void free(const Tape::Event& storage)
    {
        count(storage, -1);
        m_pool.free(m_blocks[storage.slot]);
        m_blocks[storage.slot] = BlockPool::none;
    }

    void count(const Tape::Event& storage, std::int64_t sign)
    {
        m_held.bytes += sign * storage.bytes;
        m_held.rests += sign * restOf(storage);
    }

    [[nodiscard]] std::int64_t restOf(const Tape::Event& storage) const
    {
        const BlockPool::Block block = m_blocks[storage.slot];
        return block != BlockPool::none ? m_pool.sizeOf(block) - storage.bytes : 0;
    }

    const ModelProgram& m_program;
    const StageProgram& m_stage;
    BlockPool m_pool;
    std::vector<BlockPool::Block> m_blocks; ///< by slot
    Held m_held, m_rebuilt;
};

/// Where activations were, `bytes` of them: in segments like those that were made, at most so many times, and what is
/// left together.
void addCached(std::vector<std::int64_t> made, std::int64_t bytes, double mostTimes, Segments& segments)
{
    std::sort(made.begin(), made.end());
    const std::int64_t all = std::accumulate(made.begin(), made.end(), std::int64_t{0});
    const double times = all > 0 ? std::min(static_cast<double>(bytes) / static_cast<double>(all), mostTimes) : 0;
    for (auto segment = made.begin(); segment != made.end();) {
        const auto other = std::upper_bound(segment, made.end(), *segment);
        const auto count = static_cast<std::int64_t>(static_cast<double>(other - segment) * times);
        segments.free(*segment, count);
        bytes -= count * *segment;
        segment = other;
    }
    segments.free(bytes);
}

std::int64_t microBatchesInFlight(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    const PipelineShape pipeline{shape.schedule,     shape.stages,     shape.chunks,
                                 shape.microBatches, shape.chunkGroup, shape.extraInFlight};
    return std::max(inFlight(pipeline, stage.stage).microBatches(), std::int64_t{1});
}

} // namespace

bool sharesSegments(const ModelProgram& program, const StageProgram& stage)
{
    if (program.usesExpandableSegments || program.roundupDivisions > 1) {
        return false;
    }
    const RankShape& shape = program.shape;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const Tensors* tensors : {&piece.parameters, &piece.expertParameters, &piece.frozenParameters}) {
                for (const std::int64_t elements : *tensors) {
                    if (Segments::leavesRests(elements * shape.element)
                        || Segments::leavesRests(elements * shape.master)) {
                        return true;
                    }
                }
            }
            for (const Tape::Event& tensor : piece.tape.saved) {
                if (Segments::leavesRests(tensor.bytes)) {
                    return true;
                }
            }
        }
    }
    return false;
}

Tensors mainGradientTensors(const ModelProgram& program, const StageProgram& stage)
{
    Tensors all;
    for (std::size_t i = 0; i < parameterGroups.size() && program.shape.hasMainGradients; ++i) {
        const ParameterGroup group = parameterGroups[i];
        const Tensors some = scaled(optimizerTensors(program.shape, parameterTensors(program, stage, group), group), 4);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

Segments placeState(const ModelProgram& program, const StageProgram& stage, StageState& state)
{
    const RankShape& shape = program.shape;
    Segments segments;
    std::int64_t rests
        = segments.place(frozenStorages(program, stage)) + segments.place(fp8WeightCopies(program, stage));
    const std::int64_t trained = segments.place(scaled(parameterTensors(program, stage), shape.element));
    if (shape.isDistributedOptimizer) {
        segments.release(); // they have moved into one buffer
        state.movingRests = trained;
    } else {
        rests += trained;
    }
    rests += segments.place(scaled(referenceTensors(program, stage), shape.element));
    state.parameters += rests - state.parameterRests;
    state.parameterRests = rests;
    if (shape.master > 0) {
        std::int64_t masterRests = 0;
        for (const ParameterGroup group : parameterGroups) {
            masterRests += segments.place(
                scaled(optimizerTensors(shape, parameterTensors(program, stage, group), group), shape.master));
        }
        state.master += masterRests - state.masterRests;
        state.masterRests = masterRests;
    }
    return segments;
}

StepRests placeStep(const ModelProgram& program, const StageProgram& stage, const Segments& state, std::int64_t cached,
                    const Tensors& mainGradients, const Tensors& moments)
{
    StepRests rests;
    if (program.usesExpandableSegments) {
        return rests;
    }
    // A few of them: the second lies otherwise than the first.
    const std::int64_t all = microBatchesInFlight(program, stage), played = std::min(all, std::int64_t{4});
    ForwardPass pass(program, stage, state);
    for (std::int64_t i = 0; i < played; ++i) {
        pass.run();
    }
    const ForwardPass::Held held = pass.held(), rebuilt = pass.rebuilt();
    rests.reach = held.bytes * all / played + rebuilt.bytes;
    if (rests.reach > 0) {
        const std::int64_t bytes = held.rests * all / played + rebuilt.rests;
        rests.activations = static_cast<double>(bytes) / static_cast<double>(rests.reach);
    }
    Segments segments = state;
    addCached(pass.segments(), std::max<std::int64_t>(cached, 0),
              static_cast<double>(all) / static_cast<double>(played), segments);
    segments.place(mainGradients);
    rests.moments = segments.place(moments);
    return rests;
}

void addActivationRests(std::int64_t rests, ComponentBytes& components)
{
    constexpr std::array others{Component::InFlight, Component::Logits, Component::WorkingSet, Component::Buffers};
    const auto bytesOf
        = [&](Component component) -> std::int64_t& { return components[static_cast<std::size_t>(component)]; };
    std::int64_t all = bytesOf(Component::Activations);
    for (const Component component : others) {
        all += bytesOf(component);
    }
    std::int64_t left = rests;
    for (const Component component : others) {
        const double share = all > 0 ? static_cast<double>(bytesOf(component)) / static_cast<double>(all) : 0;
        const auto own = static_cast<std::int64_t>(static_cast<double>(rests) * share);
        bytesOf(component) += own;
        left -= own;
    }
    bytesOf(Component::Activations) += left;
}

} // namespace headroom
