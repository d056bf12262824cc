// SPDX-License-Identifier: GPL-3.0-or-later
//
// When a replay's turns repeat. Free neighbours always join, so the places of what is alive, and of the segments,
// decide what is free: where every tensor stands at the end of a turn as it stood at the end of an earlier one, all
// that follows is the same.
#include "replay/replay_reader.h"

#include <algorithm>

namespace headroom {

namespace {

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

std::uint64_t joined(std::uint64_t all, std::uint64_t next)
{
    return mixed(all + next + 0x9e3779b97f4a7c15U);
}

} // namespace

std::uint64_t ReplayReader::placeOf(const Handle& handle) const
{
    return handle.block == CachingAllocator::noBlock
        ? 0
        : joined(static_cast<std::uint64_t>(m_allocator.addressOf(handle.block)),
                 static_cast<std::uint64_t>(m_allocator.sizeOf(handle.block)));
}

std::uint64_t ReplayReader::placesOf(const LiveChunk& live, const Handle& input, const Handle& output) const
{
    std::uint64_t places = joined(placeOf(input), placeOf(output));
    for (const Handle& slot : live.slots) {
        places = joined(places, placeOf(slot));
    }
    return places;
}

std::int64_t ReplayReader::repeatable(std::span<const Handle> kept, std::int64_t turns, std::int64_t unit)
{
    if (m_isRecording || !m_options.leavesOutRepeats) {
        return 0;
    }
    std::uint64_t state = joined(m_alive, static_cast<std::uint64_t>(m_allocator.statistics().deviceAllocations));
    for (const auto& [key, live] : m_live) {
        state = joined(joined(state, key.first), live.places);
    }
    for (const Handle& tensor : kept) {
        state = joined(state, placeOf(tensor));
    }
    const auto now = std::ssize(m_states);
    for (std::int64_t period = unit; period <= std::min(now, turns); period += unit) {
        if (m_states[static_cast<std::size_t>(now - period)] == state) {
            m_states.clear(); // less than a period is left
            return turns / period * period;
        }
    }
    m_states.push_back(state);
    return 0;
}

} // namespace headroom
