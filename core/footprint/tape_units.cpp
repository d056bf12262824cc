// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_units.h"

#include <algorithm>
#include <numeric>

namespace headroom {

using enum TensorKind;

namespace {

enum UnitKey : std::uint64_t { UnitsKey = 0x7001, FirstRootKey = 0x7100, FirstGradientKey = 0x7200 };

std::int64_t elementsOf(const Piece& piece)
{
    const auto sum = [](const std::vector<std::int64_t>& tensors) {
        return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
    };
    return sum(piece.parameters) + sum(piece.expertParameters);
}

/// The storage is there from the first event on, until the step.
void ensureFirst(ModelProgram& program, std::uint64_t key, TensorKind kind, std::int64_t bytes,
                 std::vector<Tape::Event>& events, std::vector<Tape::Event>& needs)
{
    const std::int64_t rounded = std::max<std::int64_t>((bytes + 511) & ~std::int64_t{511}, 512);
    const Tape::Event event{rounded, Tape::Op::Ensure, kind, program.persistents.find(key, kind, rounded, true)};
    events.insert(events.begin(), event);
    needs.push_back(event);
}

/// The largest pair of layers that follow each other in a chunk; of the whole model, one size serves all stages.
std::int64_t largestPair(const std::vector<std::uint16_t>& layerPieces, const ModelProgram& program)
{
    std::int64_t largest = 0;
    for (const StageProgram& stage : program.stages) {
        for (const Chunk& chunk : stage.chunks) {
            std::int64_t before = 0;
            for (const PieceRun& run : chunk.runs) {
                const bool isLayer = std::find(layerPieces.begin(), layerPieces.end(), run.piece) != layerPieces.end();
                const std::int64_t unit = isLayer ? elementsOf(program.pieces[run.piece]) : 0;
                largest = std::max(largest, unit + std::max(run.count > 1 ? unit : 0, before));
                before = unit;
            }
        }
    }
    return largest;
}

} // namespace

void gatherUnits(const std::vector<std::uint16_t>& layerPieces, ModelProgram& program)
{
    const RankShape& shape = program.shape;
    const std::int64_t units = largestPair(layerPieces, program);
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
                        isLayer ? units * shape.element : bytes, tape.forward, tape.forwardNeeds);
        }
        if (!isLayer && !piece.isFrozen && !tape.backward.empty()) {
            ensureFirst(program, FirstGradientKey + i, WeightGradient, bytes, tape.backward, tape.backwardNeeds);
            if (!tape.inputBackward.empty()) {
                ensureFirst(program, FirstGradientKey + i, WeightGradient, bytes, tape.inputBackward,
                            tape.inputBackwardNeeds);
            }
        }
    }
}

} // namespace headroom
