// SPDX-License-Identifier: GPL-3.0-or-later
//
// Activations that wait in the host's memory.
#include "replay/replay_reader.h"

namespace headroom {

void ReplayReader::sendAway(const PieceRun& run, Handle* first, std::int64_t piece)
{
    const Tape& tape = m_program.pieces[run.piece].tape;
    for (const Tape::Event& storage : tape.offloaded) {
        free(first[piece * tape.slotCount + storage.slot]);
    }
}

void ReplayReader::bringBack(const PieceRun& run, Handle* first, std::int64_t piece)
{
    const Tape& tape = m_program.pieces[run.piece].tape;
    for (const Tape::Event& storage : tape.offloaded) {
        if (storage.slot != Tape::input || !run.keepsFirstInput || piece > 0) {
            first[piece * tape.slotCount + storage.slot] = allocate(storage.kind, storage.bytes);
        }
    }
}

/// The copy of a chunk's activations that ran beside the last pass has ended; of a storage that left in part the rest
/// is a smaller one. They come back into buffers that are there, so that the backward frees nothing for them.
void ReplayReader::finishLeaving()
{
    if (!m_leaving) {
        return;
    }
    if (m_hasUnseenPeak || m_hasUnseenSpan) {
        takeSnapshot();
    }
    LiveChunk& live = m_live.at(*m_leaving);
    m_activations = live.activations;
    Handle* slots = live.slots.data();
    for (const PieceRun& run : m_stage.chunks[m_leaving->first].runs) {
        const Tape& tape = m_program.pieces[run.piece].tape;
        for (std::int64_t i = 0; i < run.count; ++i) {
            for (const Tape::Event& storage : tape.offloaded) {
                Handle& handle = slots[storage.slot];
                const std::int64_t rest = handle.bytes - storage.bytes;
                if (run.checkpointGroup == 0 && handle.block != CachingAllocator::noBlock) {
                    free(handle);
                    handle = rest > 0 ? allocate(storage.kind, rest) : Handle{};
                }
            }
            slots += tape.slotCount;
        }
    }
    live.activations = m_activations;
    live.places = placesOf(live, {}, {});
    m_leaving.reset();
}

} // namespace headroom
