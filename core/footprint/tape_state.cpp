// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_state.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

std::int64_t roundUp(std::int64_t value, std::int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

std::int64_t paddedStart(std::int64_t sum, std::int64_t elements)
{
    return sum + roundUp(elements, 64);
}

std::int64_t paddedEnd(const RankShape& shape, std::int64_t elements)
{
    return roundUp(elements, std::lcm(std::max<std::int64_t>(shape.data * shape.context, 1), std::int64_t{128}));
}

bool isFp8Weight(const RankShape& shape, std::int64_t elements)
{
    return elements > shape.hidden * 8 && elements != shape.vocab * shape.hidden;
}

/// Frozen tensors cost their storage and nothing else; they are in no buffer (theory.md 2.5).
std::int64_t frozenBytes(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t bytes = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const Piece& piece = program.pieces[run.piece];
            for (const std::int64_t tensor : piece.parameters) {
                bytes += piece.isFrozen ? run.count * blockBytes(tensor * program.shape.element) : 0;
            }
        }
    }
    return bytes;
}

StageState separateTensors(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    StageState bytes;
    std::int64_t elements = 0;
    bytes.parameters = frozenBytes(program, stage);
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            if (program.pieces[run.piece].isFrozen) {
                continue;
            }
            for (const std::int64_t tensor : program.pieces[run.piece].parameters) {
                elements += run.count * tensor;
                bytes.parameters += run.count * blockBytes(tensor * shape.element);
                bytes.master += shape.master > 0 ? run.count * blockBytes(tensor * shape.master) : 0;
                for (const std::int64_t moment : {shape.firstMoment, shape.secondMoment}) {
                    bytes.moments += moment > 0 ? run.count * blockBytes(tensor * moment) : 0;
                }
                bytes.mainGradients += shape.hasMainGradients ? run.count * blockBytes(tensor * 4) : 0;
            }
        }
    }
    bytes.gradients = elements > 0 ? blockBytes(elements * shape.gradient) : 0;
    return bytes;
}

} // namespace

std::int64_t blockBytes(std::int64_t bytes)
{
    constexpr std::int64_t MiB = std::int64_t{1} << 20;
    const std::int64_t segment = roundUp(bytes, 2 * MiB);
    return bytes >= 10 * MiB && segment - bytes <= MiB ? segment : roundUp(bytes, 512);
}

StageState stageState(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    if (!shape.isDistributedOptimizer) {
        return separateTensors(program, stage);
    }
    std::int64_t elements = 0, padded = 0, saved = 0;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            if (program.pieces[run.piece].isFrozen) {
                continue;
            }
            for (const std::int64_t tensor : program.pieces[run.piece].parameters) {
                elements += run.count * tensor;
                padded += run.count * paddedStart(0, tensor);
                saved += isFp8Weight(shape, tensor) ? run.count * tensor : 0;
            }
        }
    }
    StageState bytes;
    const std::int64_t held = elements / shape.optimizerShards;
    const std::int64_t buffer = paddedEnd(shape, padded);
    const bool savesBytes = shape.hasFp8Parameters && shape.capability >= 10;
    bytes.parameters = frozenBytes(program, stage) + buffer * shape.element - (savesBytes ? saved : 0);
    bytes.gradients = buffer * shape.gradient;
    bytes.master = held * shape.master;
    bytes.moments = held * (shape.firstMoment + shape.secondMoment);
    bytes.mainGradients = shape.hasMainGradients ? held * 4 : 0;
    return bytes;
}

std::vector<std::int64_t> parameterTensors(const ModelProgram& program, const StageProgram& stage, bool areFrozen)
{
    std::vector<std::int64_t> all;
    for (const Chunk& chunk : stage.chunks) {
        for (const PieceRun& run : chunk.runs) {
            const auto& tensors = program.pieces[run.piece].parameters;
            for (std::int64_t i = 0; i < run.count && program.pieces[run.piece].isFrozen == areFrozen; ++i) {
                all.insert(all.end(), tensors.begin(), tensors.end());
            }
        }
    }
    return all;
}

std::vector<std::int64_t> optimizerTensors(const RankShape& shape, const std::vector<std::int64_t>& parameters)
{
    if (!shape.isDistributedOptimizer) {
        return parameters;
    }
    std::int64_t left = std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0}) / shape.optimizerShards;
    std::vector<std::int64_t> shards;
    for (auto tensor = parameters.rbegin(); tensor != parameters.rend() && left > 0; ++tensor) {
        shards.push_back(std::min(*tensor, left));
        left -= shards.back();
    }
    std::reverse(shards.begin(), shards.end());
    return shards;
}

std::int64_t paddedElements(const RankShape& shape, const std::vector<std::int64_t>& parameters)
{
    return paddedEnd(shape, std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0}, paddedStart));
}

std::int64_t fp8Savings(const RankShape& shape, const std::vector<std::int64_t>& parameters)
{
    if (!shape.hasFp8Parameters || shape.capability < 10) {
        return 0;
    }
    return std::accumulate(
        parameters.begin(), parameters.end(), std::int64_t{0},
        [&](std::int64_t sum, std::int64_t tensor) { return sum + (isFp8Weight(shape, tensor) ? tensor : 0); });
}

} // namespace headroom
