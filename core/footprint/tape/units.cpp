// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/units.h"

#include "allocator/allocator_sizes.h"

#include <algorithm>
#include <numeric>

namespace headroom {

using enum TensorKind;

namespace {

enum UnitKey : std::uint64_t { UnitsKey = 0x7001, FirstRootKey = 0x7100, FirstGradientKey = 0x7200 };

std::int64_t sumOf(const std::vector<std::int64_t>& tensors)
{
    return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
}

/// Of the parameters that belong to the piece whether it is frozen or not.
std::int64_t ownElements(const Piece& piece)
{
    return sumOf(piece.parameters) + sumOf(piece.expertParameters);
}

std::int64_t elementsOf(const Piece& piece)
{
    return ownElements(piece) + sumOf(piece.frozenParameters) + sumOf(piece.frozenExpertParameters);
}

/// The storage is there from the first event on, until the step.
void ensureFirst(ModelProgram& program, std::uint64_t key, TensorKind kind, std::int64_t bytes,
                 std::vector<Tape::Event>& events, std::vector<Tape::Event>& needs)
{
    const std::int64_t rounded = blockSize(bytes);
    const Tape::Event event{rounded, Tape::Op::Ensure, kind, program.persistents.find(key, kind, rounded, true)};
    events.insert(events.begin(), event);
    needs.push_back(event);
}

/// The most that one layer and those behind it have, where these are taken until they have `asked / 2` elements.
std::int64_t largestWindow(const std::vector<std::int64_t>& units, std::int64_t asked)
{
    const std::int64_t all = std::accumulate(units.begin(), units.end(), std::int64_t{0});
    const std::int64_t average = units.empty() ? 0 : all / static_cast<std::int64_t>(units.size());
    const std::int64_t limit = (asked > 0 ? asked : std::max<std::int64_t>(1'000'000'000, 2 * average)) / 2;
    std::int64_t most = 0, held = 0; // of those from `first` to `end`
    for (std::size_t first = 0, end = 0; first < units.size(); ++first) {
        if (end == first) {
            held += units[end++];
        }
        for (; end < units.size() && held - units[first] < limit; ++end) {
            held += units[end];
        }
        most = std::max(most, held);
        held -= units[first];
    }
    return most;
}

/// Elements of the layers that are gathered at once. An all-gather takes layers behind along until they fill half a
/// communication unit, which is 1e9 elements or two layers, whichever is more; so does that of the output layer, which
/// comes first among the buckets, when all layers have been released (megatron_fsdp.py; param_and_grad_buffer.py,
/// AllGatherPipeline.all_gather_params). Of the whole model, one size serves all stages.
std::int64_t gatheredElements(const std::vector<std::uint16_t>& layerPieces, const ModelProgram& program)
{
    std::int64_t most = 0;
    for (const StageProgram& stage : program.stages) {
        for (const Chunk& chunk : stage.chunks) {
            std::vector<std::int64_t> units;
            for (const PieceRun& run : chunk.runs) {
                if (std::find(layerPieces.begin(), layerPieces.end(), run.piece) != layerPieces.end()) {
                    units.insert(units.end(), static_cast<std::size_t>(run.count),
                                 elementsOf(program.pieces[run.piece]));
                }
            }
            most = std::max(most, largestWindow(units, program.shape.communicationUnit));
        }
    }
    return most;
}

} // namespace

void gatherUnits(const std::vector<std::uint16_t>& layerPieces, ModelProgram& program)
{
    const RankShape& shape = program.shape;
    const std::int64_t gathered = gatheredElements(layerPieces, program);
    for (std::size_t i = 0; i < program.pieces.size(); ++i) {
        Piece& piece = program.pieces[i];
        Tape& tape = piece.tape;
        const std::int64_t bytes = elementsOf(piece) * shape.element;
        const bool isLayer = std::find(layerPieces.begin(), layerPieces.end(), i) != layerPieces.end();
        if (bytes == 0) {
            continue;
        }
        if (shape.shardsParameters) {
            ensureFirst(program, isLayer ? UnitsKey : FirstRootKey + i, GatheredParameters,
                        isLayer ? gathered * shape.element : bytes, tape.forward, tape.forwardNeeds);
        }
        if (!isLayer && !piece.isFrozen && ownElements(piece) > 0 && !tape.backward.empty()) {
            const std::int64_t gradient = ownElements(piece) * shape.element;
            ensureFirst(program, FirstGradientKey + i, WeightGradient, gradient, tape.backward, tape.backwardNeeds);
            if (!tape.inputBackward.empty()) {
                ensureFirst(program, FirstGradientKey + i, WeightGradient, gradient, tape.inputBackward,
                            tape.inputBackwardNeeds);
            }
        }
    }
}

} // namespace headroom
