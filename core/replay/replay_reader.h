// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/state.h"
#include "replay/replay.h"

#include <map>
#include <optional>
#include <span>
#include <utility>

namespace headroom {

/// Plays tapes into the allocator, event by event, and keeps the books. A StepWalk drives it.
class ReplayReader
{
public:
    struct Handle
    {
        CachingAllocator::Block block = CachingAllocator::noBlock;
        TensorKind kind = TensorKind::Parameters;
        std::int64_t bytes = 0;
    };

    ReplayReader(const ModelProgram& program, const StageProgram& stage, const ReplayOptions& options);

    /// Parameters, gradient buffer and master weights, in the order of construction.
    void construct();
    void beginStep(bool isLast);
    void endStep(); ///< the optimizer's step included
    [[nodiscard]] StageReplay finish();

    void enter(Phase phase);
    Handle allocate(TensorKind kind, std::int64_t bytes, std::uint32_t stream = 0);
    void free(Handle& handle);
    Handle forward(std::size_t chunk, std::int64_t microBatch, const Handle& input);
    Handle backward(std::size_t chunk, std::int64_t microBatch, Handle outputGradient);
    Handle inputBackward(std::size_t chunk, std::int64_t microBatch, Handle outputGradient);
    void weights(std::size_t chunk, std::int64_t microBatch);
    /// Leaves no turn out while the timeline is recorded, which shows them all.
    [[nodiscard]] std::int64_t repeatable(std::span<const Handle> kept, std::int64_t turns, std::int64_t unit);

private:
    /// A chunk between its forward and its backward.
    struct LiveChunk
    {
        std::vector<Handle> slots; ///< of all of its pieces, one after the other
        Handle gradient, carried;
        std::int64_t activations = 0; ///< bytes
        std::uint64_t places = 0; ///< of all it keeps
    };

    void constructMegatron();
    void constructBuffers(const std::vector<std::int64_t>& parameters, ParameterGroup group);
    void stepMegatron();
    void stepTorch();
    void dropGradients();
    void playTogether(const std::vector<Tape::Event>& tensors);
    void play(const std::vector<Tape::Event>& events, Handle* slots);
    void accumulate(const Tape::Event& event);
    void forwardPiece(const Tape& tape, Handle* slots);
    LiveChunk& resume(std::size_t chunk, std::int64_t microBatch);
    void countLayers(const Chunk& chunk);
    void runBackward(const Chunk& chunk, LiveChunk& live);
    void finish(std::size_t chunk, std::int64_t microBatch);
    void backwardPiece(const Tape& tape, Handle* slots);
    void forwardRun(const PieceRun& run, Handle*& slots, Handle& stream);
    void backwardRun(const PieceRun& run, Handle*& slots);
    void rebuildGroup(const Tape& tape, Handle* slots, std::int64_t pieces);
    void sendAway(const PieceRun& run, Handle* first, std::int64_t piece);
    void bringBack(const PieceRun& run, Handle* first, std::int64_t piece);
    void finishLeaving();
    [[nodiscard]] bool canDefer() const;
    [[nodiscard]] std::uint64_t placeOf(const Handle& handle) const;
    [[nodiscard]] std::uint64_t placesOf(const LiveChunk& live, const Handle& input, const Handle& output) const;
    void takeSnapshot();
    void endSpan();

    const ModelProgram& m_program;
    const StageProgram& m_stage;
    const ReplayOptions& m_options;
    CachingAllocator m_allocator;
    std::vector<std::size_t> m_slotCounts; ///< by chunk
    std::map<std::pair<std::size_t, std::int64_t>, LiveChunk> m_live;
    std::vector<std::vector<Handle>> m_spare;
    std::map<std::pair<std::size_t, Tape::Slot>, Handle> m_gradients; ///< by layer and number
    std::size_t m_layer = 0; ///< counted over the chunk's pieces
    std::vector<Handle> m_persistents, m_deferred, m_mainGradients;
    std::vector<std::int64_t> m_optimizerTensors;
    LiveChunk* m_current = nullptr;
    std::optional<std::pair<std::size_t, std::int64_t>> m_leaving; ///< a chunk that is copied to the host's memory
    std::int32_t m_chunk = 0, m_microBatch = 0;

    StageReplay m_result;
    Phase m_phase = Phase::Forward;
    bool m_isSplit = false; ///< the backward under way leaves the weights' gradients for later
    bool m_hasMoments = false, m_hasUnseenPeak = false, m_hasUnseenSpan = false, m_isRecording = false;
    bool m_isRebuilding = false;
    std::int64_t m_peak = 0, m_spanPeak = 0, m_activations = 0;
    std::array<std::int64_t, phaseCount> m_phasePeaks{};
    std::array<std::int64_t, tensorKindCount> m_tensors{};
    std::array<std::int64_t, componentCount> m_components{};
    std::int64_t m_rounding = 0;
    std::uint64_t m_alive = 0; ///< the places of all blocks, in whatever order
    std::vector<std::uint64_t> m_states; ///< at the ends of this step's turns
    TimelinePoint m_span;
};

} // namespace headroom
