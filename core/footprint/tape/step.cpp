// SPDX-License-Identifier: GPL-3.0-or-later
// What the end of a step allocates.
#include "footprint/tape/state.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

constexpr std::int64_t fp32 = 4;

std::int64_t sum(const std::vector<std::int64_t>& sizes)
{
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

/// Fp32 copies of the frozen weights, all at once.
std::vector<std::int64_t> copiesForNorm(const ModelProgram& program, const StageProgram& stage)
{
    std::vector<std::int64_t> copies;
    if (program.shape.copiesForNorm) {
        for (const std::int64_t elements : parameterTensors(program, stage, true)) {
            copies.push_back(elements * fp32);
        }
    }
    return copies;
}

/// What each kind of tensors is gathered in.
std::vector<std::int64_t> gatheredTensors(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    std::int64_t most = 0;
    for (const ParameterGroup group : parameterGroups) {
        const bool isShared = shape.dealsTensors
            && (group == ParameterGroup::Experts ? shape.experts.optimizerShards : shape.optimizerShards) > 1;
        most = std::max(most, isShared ? sum(parameterTensors(program, stage, group)) * shape.element : 0);
    }
    return most > 0 ? std::vector{most} : std::vector<std::int64_t>{};
}

/// The matrix whose orthogonalisation takes most; none without one that is trained.
Piece::Matrix largestMatrix(const ModelProgram& program, const StageProgram& stage)
{
    Piece::Matrix largest;
    const auto needed = [](const Piece::Matrix& matrix) {
        const std::int64_t side = std::min(matrix.rows, matrix.columns);
        return matrix.rows * matrix.columns + side * side;
    };
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const auto* matrices : {&piece.matrices, &piece.expertMatrices}) {
                for (const Piece::Matrix& matrix : *matrices) {
                    const bool isMore = run.count > 0 && !piece.isFrozen && needed(matrix) > needed(largest);
                    largest = isMore ? matrix : largest;
                }
            }
        }
    }
    return largest;
}

} // namespace

std::vector<std::int64_t> orthogonalisation(const ModelProgram& program, const StageProgram& stage)
{
    const Piece::Matrix matrix = program.shape.orthogonalises ? largestMatrix(program, stage) : Piece::Matrix{};
    const std::int64_t whole = matrix.rows * matrix.columns, side = std::min(matrix.rows, matrix.columns);
    return whole > 0 ? std::vector{whole * fp32, side * side * fp32, side * side * fp32, whole * fp32}
                     : std::vector<std::int64_t>{};
}

std::vector<std::int64_t> stepTemporaries(const ModelProgram& program, const StageProgram& stage)
{
    std::vector<std::int64_t> most = orthogonalisation(program, stage);
    for (auto& others : {gatheredTensors(program, stage), copiesForNorm(program, stage)}) {
        most = sum(others) > sum(most) ? others : most;
    }
    return most;
}

} // namespace headroom
