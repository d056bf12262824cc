// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/graph_inputs.h"

#include "footprint/schedule/step_walk.h"

#include <algorithm>
#include <array>

namespace headroom {

namespace {

/// Counts the recorded layers whose pass has run forward and not yet backward: those with a mask, those without. A
/// StepWalk drives it.
class GraphCounter
{
public:
    struct Handle
    {
    };
    using Counts = std::array<std::int64_t, 2>;

    explicit GraphCounter(std::vector<Counts> chunks)
        : m_chunks(std::move(chunks))
    {
    }

    [[nodiscard]] const Counts& most() const { return m_most; }

    Handle allocate(TensorKind /*kind*/, std::int64_t /*bytes*/) { return {}; }
    void free(Handle& /*handle*/) { }
    void enter(Phase /*phase*/) { }
    Handle forward(std::size_t chunk, std::int64_t /*microBatch*/, const Handle& /*input*/)
    {
        for (std::size_t i = 0; i < m_live.size(); ++i) {
            m_live[i] += m_chunks[chunk][i];
            m_most[i] = std::max(m_most[i], m_live[i]);
        }
        return {};
    }
    Handle backward(std::size_t chunk, std::int64_t /*microBatch*/, Handle /*outputGradient*/)
    {
        end(chunk);
        return {};
    }
    Handle inputBackward(std::size_t /*chunk*/, std::int64_t /*microBatch*/, Handle /*outputGradient*/) { return {}; }
    void weights(std::size_t chunk, std::int64_t /*microBatch*/) { end(chunk); }

private:
    void end(std::size_t chunk)
    {
        for (std::size_t i = 0; i < m_live.size(); ++i) {
            m_live[i] -= m_chunks[chunk][i];
        }
    }

    std::vector<Counts> m_chunks;
    Counts m_live{}, m_most{};
};

} // namespace

void recordGraphs(const RankShape& shape, const LayerKind& kind, std::int64_t layers, Piece& piece)
{
    piece.graphs = shape.graphs.records(kind) ? layers : 0;
    piece.graphsReadMask = shape.graphs.attention && kind.mixer == Mixer::Attention;
}

std::vector<std::int64_t> graphInputs(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    if (!shape.graphs.isOn) {
        return {};
    }
    std::vector<GraphCounter::Counts> chunks;
    for (const Chunk& chunk : stage.chunks) {
        GraphCounter::Counts& counts = chunks.emplace_back();
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            counts[piece.graphsReadMask ? 1 : 0] += run.count * piece.graphs;
        }
    }
    GraphCounter counter(std::move(chunks));
    StepWalk<GraphCounter>::Memory memory;
    StepWalk<GraphCounter> walk(shape, stage, counter, memory);
    walk.run(distinctMicroBatches(shape, stage));

    constexpr std::int64_t inputElement = 2; // whatever the model's
    std::vector<std::int64_t> tensors;
    for (std::size_t i = 0; i < counter.most().size(); ++i) {
        for (std::int64_t graph = 0; graph < counter.most()[i]; ++graph) {
            tensors.push_back(shape.localTokens() * shape.hidden * inputElement);
            if (i == 1) {
                tensors.push_back(shape.microBatch * shape.sequence * shape.fullSequence);
            }
        }
    }
    return tensors;
}

} // namespace headroom
