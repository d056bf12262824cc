// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

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
    Rise returned, firstReturned; ///< backward, what was offloaded lying in a buffer of its own
    std::int64_t offloaded = 0, offloadedInput = 0; ///< bytes that leave, and how many of them are the input's
    std::int64_t output = 0;
    std::int64_t held = 0; ///< what its backward leaves for the pass of the weights' gradients
    bool isSplit = false; ///< there are two passes

    /// The piece whose backward is the first of the two passes.
    [[nodiscard]] PieceSummary splitting() const;
    /// The piece whose backward reads from such buffers.
    [[nodiscard]] PieceSummary returning() const;
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
    bool isReturned = false; ///< the backward reads what was offloaded from a buffer

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
    PassSummary returned; ///< backward, what was offloaded lying in a buffer
    std::int64_t offloaded = 0; ///< bytes that leave while the next pass runs
    std::int64_t output = 0; ///< bytes that flow out
};

/// A run of pieces after what `pass` has seen already.
void addForward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass);
void addBackward(const PieceRun& run, const PieceSummary& piece, std::size_t index, PassSummary& pass);

/// Bytes that come back from the host's memory before the backward of piece `place` of the run.
[[nodiscard]] std::int64_t returnedAt(const PieceRun& run, const PieceSummary& piece, std::int64_t place);

[[nodiscard]] ChunkSummary summarise(const Chunk& chunk, const std::vector<PieceSummary>& pieces);

/// Adds the chunk's own bytes at `place` to `components`.
void addComponents(const ModelProgram& program, const Chunk& chunk, const Place& place, ComponentBytes& components);

} // namespace headroom
