// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape_program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace headroom {

using ComponentBytes = std::array<std::int64_t, componentCount>;

/// What running some events does to the bytes alive: by how much they end higher, and how high they reach.
struct Rise
{
    std::int64_t net = 0, peak = 0;
    std::uint32_t peakEvent = 0; ///< events up to this one have run at the peak
};

/// A tape in numbers: with all persistent storages there already, and with none of them.
struct PieceSummary
{
    Rise forward, backward, firstForward, firstBackward;
    Rise deferring; ///< backward, what is deferred staying alive
    Rise inputBackward, firstInputBackward, weights; ///< the backward in two passes
    std::int64_t output = 0;
    std::int64_t held = 0; ///< what its backward leaves for the pass of the weights' gradients
    bool isSplit = false; ///< there are two passes

    /// The piece whose backward is the first of the two passes.
    [[nodiscard]] PieceSummary splitting() const;
};

void summarise(const Tape& tape, PieceSummary& summary);
/// The events when `persistents` (bytes by index) are there already.
[[nodiscard]] Rise riseBeside(const std::vector<std::int64_t>& persistents, const std::vector<Tape::Event>& events);

/// Where within a chunk's pass the peak stands.
struct Place
{
    enum class Doing : std::uint8_t { Loading, Forward, Rebuilding, Backward, Weights };
    Doing doing = Doing::Loading;
    std::size_t run = 0;
    std::int64_t piece = 0; ///< within the run
    std::uint32_t event = 0;
    bool isSplit = false; ///< the backward leaves the weights' gradients for later

    friend bool operator==(const Place&, const Place&) = default;
};

struct PassSummary
{
    std::int64_t net = 0, peak = 0;
    Place place;
};

/// One micro-batch through a chunk.
struct ChunkSummary
{
    PassSummary forward, backward;
    PassSummary deferring; ///< backward, what is deferred staying alive
    PassSummary inputBackward, weights; ///< the backward in two passes
    std::int64_t output = 0; ///< bytes that flow out
};

/// A run of pieces after what `pass` has seen already.
void addForward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass);
void addBackward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass);

[[nodiscard]] ChunkSummary summarise(const Chunk& chunk, const std::vector<PieceSummary>& pieces);

/// Adds the chunk's own bytes at `place` to `components`.
void addComponents(const ModelProgram& program, const Chunk& chunk, const Place& place, ComponentBytes& components);

} // namespace headroom
