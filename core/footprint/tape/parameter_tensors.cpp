// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/parameter_tensors.h"

namespace headroom {

std::vector<bool> matrixFlags(const ModelProgram& program, const StageProgram& stage, ParameterGroup group)
{
    std::vector<bool> flags;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        for (std::int64_t copy = 0; copy < count; ++copy) {
            for (std::size_t i = 0; i < tensorsOf(piece, group).size(); ++i) {
                flags.push_back(isMatrix(piece, group, i));
            }
        }
    });
    return flags;
}

std::vector<std::int64_t> parameterTensors(const ModelProgram& program, const StageProgram& stage, bool areFrozen)
{
    std::vector<std::int64_t> all;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            if (piece.isFrozen == areFrozen) {
                all.insert(all.end(), piece.parameters.begin(), piece.parameters.end());
                all.insert(all.end(), piece.expertParameters.begin(), piece.expertParameters.end());
            }
            if (areFrozen) {
                all.insert(all.end(), piece.frozenParameters.begin(), piece.frozenParameters.end());
                all.insert(all.end(), piece.frozenExpertParameters.begin(), piece.frozenExpertParameters.end());
            }
        }
    });
    return all;
}

std::vector<std::int64_t> movingTensors(const ModelProgram& program, const StageProgram& stage)
{
    std::vector<std::int64_t> all = parameterTensors(program, stage);
    if (program.shape.movesFrozen) {
        const std::vector<std::int64_t> frozen = parameterTensors(program, stage, true);
        all.insert(all.end(), frozen.begin(), frozen.end());
    }
    return all;
}

std::vector<std::int64_t> referenceTensors(const ModelProgram& program, const StageProgram& stage)
{
    std::vector<std::int64_t> all;
    for (const bool areFrozen : {true, false}) {
        if (program.shape.hasReference) {
            const std::vector<std::int64_t> some = parameterTensors(program, stage, areFrozen);
            all.insert(all.end(), some.begin(), some.end());
        }
    }
    return all;
}

std::vector<std::int64_t> parameterTensors(const ModelProgram& program, const StageProgram& stage, ParameterGroup group)
{
    std::vector<std::int64_t> all;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        const auto& tensors = tensorsOf(piece, group);
        for (std::int64_t i = 0; i < count; ++i) {
            all.insert(all.end(), tensors.begin(), tensors.end());
        }
    });
    return all;
}

} // namespace headroom
