// SPDX-License-Identifier: GPL-3.0-or-later
// The parameter tensors of a stage, by who shares them.
#pragma once

#include "footprint/tape/program.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace headroom {

/// Parameters with the same replicas share gradient buffers and are sharded alike.
enum class ParameterGroup : std::uint8_t {
    Dense,
    Experts,
    Encoder ///< image encoder and projector where every stage holds a copy
};
inline constexpr std::array parameterGroups{ParameterGroup::Dense, ParameterGroup::Experts, ParameterGroup::Encoder};

/// Of the parameters that are no experts.
inline ParameterGroup ownGroup(const Piece& piece)
{
    return piece.isOnEveryStage ? ParameterGroup::Encoder : ParameterGroup::Dense;
}

/// The trained ones.
inline const std::vector<std::int64_t>& tensorsOf(const Piece& piece, ParameterGroup group)
{
    static const std::vector<std::int64_t> none;
    if (piece.isFrozen || (group != ParameterGroup::Experts && group != ownGroup(piece))) {
        return none;
    }
    return group == ParameterGroup::Experts ? piece.expertParameters : piece.parameters;
}

inline const std::vector<Piece::Matrix>& matricesOf(const Piece& piece, ParameterGroup group)
{
    static const std::vector<Piece::Matrix> none;
    if (piece.isFrozen || (group != ParameterGroup::Experts && group != ownGroup(piece))) {
        return none;
    }
    return group == ParameterGroup::Experts ? piece.expertMatrices : piece.matrices;
}

inline bool isMatrix(const Piece& piece, ParameterGroup group, std::size_t tensor)
{
    const auto& matrices = matricesOf(piece, group);
    return std::any_of(matrices.begin(), matrices.end(),
                       [tensor](const Piece::Matrix& matrix) { return matrix.tensor == tensor; });
}

template <class Visitor> void forEachRun(const ModelProgram& program, const StageProgram& stage, const Visitor& visit)
{
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            visit(program.pieces[run.piece], run.count);
        }
    }
}

/// Which of the group's tensors, in the order of construction, are matrices.
[[nodiscard]] std::vector<bool> matrixFlags(const ModelProgram& program, const StageProgram& stage,
                                            ParameterGroup group);
/// Elements of every parameter tensor of the stage that is trained (frozen), in the order of construction.
[[nodiscard]] std::vector<std::int64_t> parameterTensors(const ModelProgram& program, const StageProgram& stage,
                                                         bool areFrozen = false);
/// Those that move into buffers when the model is wrapped. Megatron puts all of the model on the GPU first
/// (training.py, get_model); its FSDP has a buffer of weights for every group, its data parallelism for trained ones
/// alone.
[[nodiscard]] std::vector<std::int64_t> movingTensors(const ModelProgram& program, const StageProgram& stage);
/// Those of a frozen copy of the model; none without one.
[[nodiscard]] std::vector<std::int64_t> referenceTensors(const ModelProgram& program, const StageProgram& stage);
/// Those of one group that are trained.
[[nodiscard]] std::vector<std::int64_t> parameterTensors(const ModelProgram& program, const StageProgram& stage,
                                                         ParameterGroup group);

} // namespace headroom
