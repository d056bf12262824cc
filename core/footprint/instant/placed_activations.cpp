// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/placed_activations.h"

#include "allocator/allocator_sizes.h"

#include <algorithm>

namespace headroom {

PlacedActivations::Held& PlacedActivations::Held::operator+=(const Held& other)
{
    bytes += other.bytes;
    rests += other.rests;
    return *this;
}

PlacedActivations::PlacedActivations(const ModelProgram& program, const StageProgram& stage, const Segments& state)
    : m_program(program)
    , m_stage(stage)
{
    for (const Segments::Size& size : state.freeBlocks()) {
        for (std::int64_t i = 0; i < size.count; ++i) {
            m_allocator.cacheSegment(size.bytes);
        }
    }
}

void PlacedActivations::addMicroBatch()
{
    for (const Chunk& chunk : m_stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            // Of many layers a few are played, which the others are like.
            const std::int64_t played = std::min(run.count, std::int64_t{16});
            const Held before = m_played;
            for (std::int64_t i = 0; i < played; ++i) {
                play(m_program.pieces[run.piece].tape, run.checkpointGroup > 0);
            }
            if (run.count > played) {
                const auto others = static_cast<double>(run.count - played);
                m_others += (m_played - before) * (others / static_cast<double>(played));
            }
        }
    }
}

PlacedActivations::Held PlacedActivations::held() const
{
    Held all = m_played;
    return all += m_others;
}

void PlacedActivations::play(const Tape& tape, bool isRecomputed)
{
    m_blocks.assign(tape.slotCount, CachingAllocator::noBlock);
    for (const Tape::Event& event : tape.forward) {
        if (event.slot < Tape::firstLocal || event.slot >= tape.slotCount) {
            continue;
        }
        if (event.op == Tape::Op::Allocate) {
            m_blocks[event.slot] = allocate(event.bytes);
            m_played += heldBy(event);
        } else if (event.op == Tape::Op::Free) {
            free(event);
        }
    }
    m_rebuilt = isRecomputed ? Held{} : m_rebuilt;
    for (std::size_t i = 0; i < tape.saved.size() && isRecomputed; ++i) {
        m_rebuilt += heldBy(tape.saved[i]);
        free(tape.saved[i]);
    }
}

CachingAllocator::Block PlacedActivations::allocate(std::int64_t bytes)
{
    if (isSmallBlock(bytes)) {
        return CachingAllocator::noBlock;
    }
    const std::int64_t reserved = m_allocator.statistics().reserved;
    const CachingAllocator::Block block = m_allocator.allocate(bytes);
    if (const std::int64_t segment = m_allocator.statistics().reserved - reserved; segment > 0) {
        m_segments.push_back(segment);
    }
    return block;
}

void PlacedActivations::free(const Tape::Event& storage)
{
    m_played += heldBy(storage) * -1;
    CachingAllocator::Block& block = m_blocks[storage.slot];
    if (block != CachingAllocator::noBlock) {
        m_allocator.free(block);
    }
    block = CachingAllocator::noBlock;
}

PlacedActivations::Held PlacedActivations::heldBy(const Tape::Event& storage) const
{
    const CachingAllocator::Block block = m_blocks[storage.slot];
    const std::int64_t rest = block != CachingAllocator::noBlock ? m_allocator.sizeOf(block) - storage.bytes : 0;
    return {static_cast<double>(storage.bytes), static_cast<double>(rest)};
}

} // namespace headroom
