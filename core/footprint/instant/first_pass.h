// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/instant/summary.h"
#include "footprint/tape/program.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// How high a chunk's first pass reaches above what was there before it, while persistent storages appear on the way.
struct FirstPass
{
    std::int64_t highest = 0;
    std::int64_t made = 0; ///< bytes of the persistent storages that appeared
};

/// The first passes through a stage's chunks, in the order in which they run: workspaces and global buffers appear
/// where a tape first asks for them, so that a first pass can reach elsewhere than later ones.
class FirstPasses
{
public:
    enum class Doing : std::uint8_t {
        Forward,
        Backward,
        Returned, ///< the backward that reads what was offloaded from a buffer
        InputBackward, ///< the backward without the weights' gradients,
        Weights ///< and those
    };

    /// `persistents`, bytes by index, is storage to work in.
    FirstPasses(const ModelProgram& program, const std::vector<PieceSummary>& pieces,
                std::vector<std::int64_t>& persistents);

    /// Of a later step: only what ended with the one before appears.
    void beginStep();
    FirstPass run(const Chunk& chunk, Doing doing);

private:
    /// `pieceOf`: the numbers of a run's pieces, those that the pass needs.
    template <class PieceOf> FirstPass runOver(const Chunk& chunk, Doing doing, PieceOf&& pieceOf);
    FirstPass runWeights(const Chunk& chunk);
    Rise pieceRise(const Tape& tape, const PieceSummary& piece, Doing doing);
    void make(const std::vector<Tape::Event>& needs);

    const ModelProgram& m_program;
    const std::vector<PieceSummary>& m_pieces;
    std::vector<std::int64_t>& m_persistents; ///< there already
};

/// Bytes of the persistent storages that the stage's tapes ask for; `largest` is storage to work in.
[[nodiscard]] std::int64_t persistentBytes(const ModelProgram& program, const StageProgram& stage,
                                           std::vector<std::int64_t>& largest);

} // namespace headroom
