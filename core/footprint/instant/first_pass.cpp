// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/instant/first_pass.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

/// Of a run that is rebuilt group by group: the storages appear in the backward of the piece that comes first, once
/// its group is rebuilt (`first`).
std::int64_t firstRebuiltPeak(const PieceRun& run, const PieceSummary& piece, const Rise& first)
{
    const std::int64_t size = (run.count - 1) % run.checkpointGroup + 1; // of the last group
    const std::int64_t rebuilt = size * piece.forward.net - piece.output;
    std::int64_t highest = std::max((size - 1) * piece.forward.net + piece.forward.peak, rebuilt + first.peak);
    if (size > 1) {
        const std::int64_t later = (size - 2) * std::max<std::int64_t>(piece.backward.net, 0);
        highest = std::max(highest, rebuilt + first.net + later + piece.backward.peak);
    }
    if (run.count > size) {
        PassSummary others;
        addBackward({run.piece, run.count - size, run.checkpointGroup}, piece, 0, others);
        const std::int64_t appearing = first.net - piece.backward.net;
        highest = std::max(highest, appearing + size * piece.held - piece.output + others.peak);
    }
    return highest;
}

/// Alive during the whole forward.
std::int64_t loadedBytes(const Chunk& chunk)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& tensor : chunk.loaded) {
        bytes += tensor.bytes;
    }
    return bytes;
}

} // namespace

FirstPasses::FirstPasses(const ModelProgram& program, const std::vector<PieceSummary>& pieces,
                         std::vector<std::int64_t>& persistents)
    : m_program(program)
    , m_pieces(pieces)
    , m_persistents(persistents)
{
    m_persistents.assign(program.persistents.all.size(), 0);
}

void FirstPasses::beginStep()
{
    for (std::size_t i = 0; i < m_persistents.size(); ++i) {
        const PersistentStorages::Storage& storage = m_program.persistents.all[i];
        m_persistents[i] = storage.endsWithStep ? 0 : storage.bytes;
    }
}

FirstPass FirstPasses::run(const Chunk& chunk, Doing doing)
{
    if (doing == Doing::Weights) {
        return runWeights(chunk);
    }
    if (doing == Doing::Forward || doing == Doing::Backward) {
        return runOver(chunk, doing,
                       [this](const PieceRun& run) -> const PieceSummary& { return m_pieces[run.piece]; });
    }
    return runOver(chunk, doing, [this, doing](const PieceRun& run) {
        const PieceSummary& piece = m_pieces[run.piece];
        const bool isReturned = doing == Doing::Returned && run.checkpointGroup == 0 && piece.offloaded > 0;
        return doing == Doing::InputBackward ? piece.splitting() : isReturned ? piece.returning() : piece;
    });
}

template <class PieceOf> FirstPass FirstPasses::runOver(const Chunk& chunk, Doing doing, PieceOf&& pieceOf)
{
    const bool isBackward = doing != Doing::Forward;
    std::int64_t level = isBackward ? 0 : loadedBytes(chunk);
    std::int64_t highest = level, made = 0;
    for (std::size_t k = 0; k < chunk.runs.size(); ++k) {
        const PieceRun& run = chunk.runs[isBackward ? chunk.runs.size() - 1 - k : k];
        const PieceSummary& piece = pieceOf(run);
        const Rise first = pieceRise(m_program.pieces[run.piece].tape, piece, doing);
        const std::int64_t appearing = first.net - (isBackward ? piece.backward.net : piece.forward.net);
        PassSummary usual;
        isBackward ? addBackward(run, piece, 0, usual) : addForward(run, piece, 0, usual);
        // A run of one, or a run whose first piece is its highest, meets the storages on the way.
        if (isBackward && run.checkpointGroup > 0) {
            highest = std::max(highest, level + firstRebuiltPeak(run, piece, first));
        } else {
            const std::int64_t back = isBackward && run.offloaded > 0 ? returnedAt(run, piece, run.count - 1) : 0;
            highest = std::max(highest, level + back + first.peak);
            if (run.count > 1) {
                const std::int64_t freed = isBackward ? std::min<std::int64_t>(piece.backward.net, 0) : 0;
                highest = std::max(highest, level + appearing + freed + usual.peak);
            }
        }
        level += appearing + usual.net;
        made += appearing;
    }
    return {highest, made};
}

/// The pass of the weights' gradients is the first to ask for some persistent storages too.
FirstPass FirstPasses::runWeights(const Chunk& chunk)
{
    std::int64_t level = 0, highest = 0, made = 0;
    for (auto run = chunk.runs.rbegin(); run != chunk.runs.rend(); ++run) {
        const Tape& tape = m_program.pieces[run->piece].tape;
        const Rise& usual = m_pieces[run->piece].weights;
        const Rise first = riseBeside(m_persistents, tape.weights);
        highest = std::max({highest, level + first.peak, level + first.net + (run->count > 1 ? usual.peak : 0)});
        made += first.net - usual.net;
        level += first.net + (run->count - 1) * usual.net;
        make(tape.weightNeeds);
    }
    return {highest, made};
}

/// The piece's rise while the persistent storages it needs appear.
Rise FirstPasses::pieceRise(const Tape& tape, const PieceSummary& piece, Doing doing)
{
    const bool isBackward = doing != Doing::Forward;
    const bool isSplit = doing == Doing::InputBackward;
    const auto& backward = isSplit ? tape.inputBackward : tape.backward;
    const auto& backwardNeeds = isSplit ? tape.inputBackwardNeeds : tape.backwardNeeds;
    const auto& needs = isBackward ? backwardNeeds : tape.forwardNeeds;
    const auto isNew = [this](const Tape::Event& need) { return m_persistents[need.slot] == 0; };
    const auto isThere = [this](const Tape::Event& need) { return m_persistents[need.slot] >= need.bytes; };
    Rise rise = isBackward ? piece.backward : piece.forward;
    if (!std::all_of(needs.begin(), needs.end(), isThere)) {
        rise = std::all_of(needs.begin(), needs.end(), isNew) && needs.size() < 64
            ? (isBackward ? piece.firstBackward : piece.firstForward)
            : riseBeside(m_persistents, isBackward ? backward : tape.forward);
        make(needs);
    }
    return rise;
}

void FirstPasses::make(const std::vector<Tape::Event>& needs)
{
    for (const Tape::Event& need : needs) {
        m_persistents[need.slot] = std::max(m_persistents[need.slot], need.bytes);
    }
}

std::int64_t persistentBytes(const ModelProgram& program, const StageProgram& stage, std::vector<std::int64_t>& largest)
{
    largest.assign(program.persistents.all.size(), 0);
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Tape& tape = program.pieces[run.piece].tape;
            for (const auto* needs :
                 {&tape.forwardNeeds, &tape.backwardNeeds, &tape.inputBackwardNeeds, &tape.weightNeeds}) {
                for (const Tape::Event& need : *needs) {
                    largest[need.slot] = std::max(largest[need.slot], need.bytes);
                }
            }
        }
    }
    return std::accumulate(largest.begin(), largest.end(), std::int64_t{0});
}

} // namespace headroom
