// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "allocator/caching_allocator.h"
#include "footprint/tape/program.h"
#include "footprint/tape/segments.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// What micro-batches on their way forward through a stage leave alive, in the allocator's blocks.
class PlacedActivations
{
public:
    /// Bytes of tensors, and what their blocks hold beyond them.
    struct Held
    {
        double bytes = 0, rests = 0;

        Held& operator+=(const Held& other);
        friend Held operator-(const Held& a, const Held& b) { return {a.bytes - b.bytes, a.rests - b.rests}; }
        friend Held operator*(const Held& held, double times) { return {held.bytes * times, held.rests * times}; }
    };

    /// Beside what is free of the `state`'s segments.
    PlacedActivations(const ModelProgram& program, const StageProgram& stage, const Segments& state);

    void addMicroBatch();

    [[nodiscard]] Held held() const;
    /// By the recomputed layer that is built again first.
    [[nodiscard]] Held rebuilt() const { return m_rebuilt; }
    /// Bytes of those made for the part that was played.
    [[nodiscard]] const std::vector<std::int64_t>& segments() const { return m_segments; }
    [[nodiscard]] double timesPlayed() const { return m_played.bytes > 0 ? held().bytes / m_played.bytes : 1; }

private:
    /// The tape's own storages.
    void play(const Tape& tape, bool isRecomputed);
    /// None for a small tensor, whose block has no rest.
    CachingAllocator::Block allocate(std::int64_t bytes);
    void free(const Tape::Event& storage);
    [[nodiscard]] Held heldBy(const Tape::Event& storage) const;

    const ModelProgram& m_program;
    const StageProgram& m_stage;
    CachingAllocator m_allocator;
    std::vector<CachingAllocator::Block> m_blocks; ///< by slot
    std::vector<std::int64_t> m_segments;
    Held m_played, m_others, m_rebuilt;
};

} // namespace headroom
