// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/state.h"

#include "allocator/allocator_sizes.h"
#include "footprint/tape/dealt_tensors.h"
#include "footprint/tape/round_up.h"

#include <algorithm>
#include <numeric>

namespace headroom {

namespace {

/// As blockSize() rounds, but nothing stays nothing.
std::int64_t rounded(std::int64_t bytes)
{
    return bytes > 0 ? blockSize(bytes) : 0;
}

/// What the block of a tensor holds beyond it.
std::int64_t restOf(const ModelProgram& program, std::int64_t bytes)
{
    if (bytes < minLargeAlloc || program.usesExpandableSegments) {
        return 0;
    }
    const std::int64_t size = rounded(bytes), rest = segmentSize(size) - size;
    return isRest(rest) ? rest : 0;
}

/// The blocks of `count` tensors; `rests`: what they hold beyond them.
std::int64_t blocksOf(const ModelProgram& program, std::int64_t bytes, std::int64_t count, std::int64_t& rests)
{
    const std::int64_t rest = restOf(program, bytes);
    rests += count * rest;
    return count * (rounded(bytes) + rest);
}

std::int64_t paddedStart(std::int64_t sum, std::int64_t elements)
{
    return sum + roundUp(elements, 64);
}

bool hasGroup(const RankShape& shape, ParameterGroup group)
{
    return group == ParameterGroup::Dense
        || (group == ParameterGroup::Experts ? shape.experts.isPresent() : shape.encoderCopies > 1);
}

std::int64_t copiesOf(const RankShape& shape, ParameterGroup group)
{
    return group == ParameterGroup::Encoder ? shape.encoderCopies : 1;
}

std::int64_t replicasOf(const RankShape& shape, ParameterGroup group)
{
    return group == ParameterGroup::Experts ? shape.experts.optimizerShards
                                            : shape.data * shape.context * copiesOf(shape, group);
}

std::int64_t paddedEnd(const RankShape& shape, std::int64_t elements, ParameterGroup group)
{
    return roundUp(elements, std::lcm(std::max<std::int64_t>(replicasOf(shape, group), 1), std::int64_t{128}));
}

bool isFp8Weight(const RankShape& shape, std::int64_t elements)
{
    return elements > shape.hidden * 8 && elements != shape.vocab * shape.hidden;
}

/// Elements whose master weight and moments stay on the GPU (theory.md 2.6).
std::int64_t onGpu(const RankShape& shape, std::int64_t elements)
{
    return shape.optimizerOnGpu == 1 ? elements
                                     : static_cast<std::int64_t>(static_cast<double>(elements) * shape.optimizerOnGpu);
}

/// Frozen tensors cost their storage and nothing else; they are in no buffer of gradients (theory.md 2.5).
void addFrozen(const ModelProgram& program, const StageProgram& stage, StageState& bytes)
{
    const RankShape& shape = program.shape;
    if (shape.shardsParameters) {
        for (const std::int64_t buffer : frozenStorages(program, stage)) {
            bytes.parameters += blocksOf(program, buffer, 1, bytes.parameterRests);
        }
    }
    if (shape.shardsParameters && !shape.hasReference) {
        return;
    }
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        const auto sum = [&](const std::vector<std::int64_t>& tensors) {
            std::int64_t all = 0;
            for (const std::int64_t elements : tensors) {
                all += blocksOf(program, elements * shape.element, count, bytes.parameterRests);
            }
            return all;
        };
        const std::int64_t own
            = piece.isFrozen || shape.hasReference ? sum(piece.parameters) + sum(piece.expertParameters) : 0;
        const std::int64_t frozen = sum(piece.frozenParameters) + sum(piece.frozenExpertParameters);
        bytes.parameters += shape.shardsParameters ? 0 : (piece.isFrozen ? own : 0) + frozen;
        bytes.reference += shape.hasReference ? own + frozen : 0;
    });
    bytes.parameters += bytes.reference;
}

void addSeparateTensors(const ModelProgram& program, const StageProgram& stage, ParameterGroup group, StageState& bytes)
{
    const RankShape& shape = program.shape;
    std::int64_t elements = 0;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        const auto& tensors = tensorsOf(piece, group);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const std::int64_t tensor = tensors[i];
            elements += count * tensor;
            bytes.parameters += blocksOf(program, tensor * shape.element, count, bytes.parameterRests);
            const std::int64_t kept = shape.dealsTensors ? 0 : onGpu(shape, tensor);
            if (kept == 0) {
                continue;
            }
            const std::int64_t masterRest = restOf(program, kept * shape.master);
            bytes.master += count * (rounded(kept * shape.master) + masterRest);
            bytes.masterRests += count * masterRest;
            const bool isPlain = shape.orthogonalises && !isMatrix(piece, group, i);
            for (const std::int64_t moment :
                 {shape.firstMoment, isPlain ? shape.otherSecondMoment : shape.secondMoment}) {
                bytes.moments += count * rounded(kept * moment);
                bytes.momentRests += count * (moment == shape.master ? masterRest : restOf(program, kept * moment));
            }
            bytes.mainGradients += shape.hasMainGradients ? count * rounded(kept * 4) : 0;
        }
    });
    std::int64_t rests = 0; // a buffer of its own
    bytes.gradients += elements > 0 ? blocksOf(program, elements * shape.gradient, 1, rests) : 0;
}

std::vector<std::size_t> dealt(const RankShape& shape, const std::vector<std::int64_t>& tensors, ParameterGroup group)
{
    const std::int64_t ranks = std::max<std::int64_t>(optimizerShards(shape, group), 1);
    const std::int64_t all = std::max<std::int64_t>(optimizerShards(shape, ParameterGroup::Dense), 1);
    const double place = static_cast<double>(shape.optimizerRank) / static_cast<double>(all);
    const auto rank = static_cast<std::int64_t>(place * static_cast<double>(ranks)); // experts have fewer replicas
    return dealtTensors(tensors, ranks, shape.optimizerRank < 0 ? -1 : std::min(rank, ranks - 1));
}

void addDealt(const ModelProgram& program, const StageProgram& stage, StageState& bytes)
{
    for (const ParameterGroup group : parameterGroups) {
        for (const std::int64_t held :
             optimizerTensors(program.shape, parameterTensors(program, stage, group), group)) {
            bytes.master += blocksOf(program, held * program.shape.master, 1, bytes.masterRests);
        }
    }
    for (const std::int64_t moment : momentTensors(program, stage)) {
        bytes.moments += rounded(moment);
        bytes.momentRests += restOf(program, moment);
    }
}

void addSharded(const ModelProgram& program, const StageProgram& stage, ParameterGroup group, StageState& bytes)
{
    const RankShape& shape = program.shape;
    std::int64_t elements = 0, padded = 0, saved = 0, matrices = 0, masterRests = 0, momentRests = 0;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        for (const std::int64_t tensor : tensorsOf(piece, group)) {
            elements += count * tensor;
            padded += count * paddedStart(0, tensor);
            saved += isFp8Weight(shape, tensor) ? count * tensor : 0;
            masterRests += count * restOf(program, tensor * shape.master);
            momentRests
                += count * (restOf(program, tensor * shape.firstMoment) + restOf(program, tensor * shape.secondMoment));
        }
        for (const Piece::Matrix& matrix : matricesOf(piece, group)) {
            matrices += shape.orthogonalises ? count * matrix.rows * matrix.columns : 0;
        }
    });
    if (elements == 0) {
        return;
    }
    const std::int64_t held = onGpu(shape, elements / optimizerShards(shape, group));
    const std::int64_t buffer = paddedEnd(shape, padded, group);
    const bool savesBytes = shape.hasFp8Parameters && shape.capability >= 10;
    bytes.parameters += (buffer * shape.element - (savesBytes ? saved : 0)) / parameterShards(shape, group);
    bytes.gradients += buffer * shape.gradient / gradientShards(shape, group);
    masterRests /= optimizerShards(shape, group); // a share is mostly whole tensors
    bytes.master += held * shape.master + masterRests;
    bytes.masterRests += masterRests;
    bytes.momentRests += momentRests / optimizerShards(shape, group);
    const std::int64_t plain = shape.orthogonalises ? (elements - matrices) / optimizerShards(shape, group) : 0;
    bytes.moments += held * (shape.firstMoment + shape.secondMoment) + plain * shape.otherSecondMoment;
    bytes.mainGradients += shape.hasMainGradients ? held * 4 : 0;
}

} // namespace

std::int64_t optimizerShards(const RankShape& shape, ParameterGroup group)
{
    return group == ParameterGroup::Experts ? shape.experts.optimizerShards
                                            : shape.optimizerShards * copiesOf(shape, group);
}

std::int64_t parameterShards(const RankShape& shape, ParameterGroup group)
{
    return shape.shardsParameters ? optimizerShards(shape, group) : 1;
}

std::int64_t gradientShards(const RankShape& shape, ParameterGroup group)
{
    return shape.shardsGradients ? optimizerShards(shape, group) : 1;
}

StageState stageState(const ModelProgram& program, const StageProgram& stage)
{
    StageState bytes;
    addFrozen(program, stage, bytes);
    for (const ParameterGroup group : parameterGroups) {
        if (!hasGroup(program.shape, group)) {
            continue;
        }
        if (program.shape.isDistributedOptimizer) {
            addSharded(program, stage, group, bytes);
        } else {
            addSeparateTensors(program, stage, group, bytes);
        }
    }
    for (const std::int64_t copy : fp8WeightCopies(program, stage)) {
        bytes.parameters += blocksOf(program, copy, 1, bytes.parameterRests);
    }
    if (program.shape.dealsTensors) {
        addDealt(program, stage, bytes);
    }
    if (program.shape.orthogonalises || program.shape.dealsTensors || program.shape.copiesForNorm) {
        const auto temporaries = stepTemporaries(program, stage);
        bytes.stepTemporaries = std::accumulate(temporaries.begin(), temporaries.end(), std::int64_t{0});
    }
    if (program.roundupDivisions > 1) {
        roundUpState(program, stage, bytes);
    }
    return bytes;
}

std::vector<std::int64_t> frozenStorages(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    std::vector<std::int64_t> sizes = parameterTensors(program, stage, true);
    for (std::int64_t& size : sizes) {
        size *= shape.element;
    }
    if (!shape.shardsParameters) {
        return sizes;
    }
    std::int64_t experts = 0;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        const auto sum = [count](const std::vector<std::int64_t>& tensors) {
            return count * std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
        };
        experts += sum(piece.frozenExpertParameters) + (piece.isFrozen ? sum(piece.expertParameters) : 0);
    });
    experts *= shape.element;
    const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    sizes = {(all - experts) / optimizerShards(shape, ParameterGroup::Dense)};
    if (experts > 0) {
        sizes.push_back(experts / optimizerShards(shape, ParameterGroup::Experts));
    }
    return all > 0 ? sizes : std::vector<std::int64_t>{};
}

std::vector<std::int64_t> momentTensors(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    std::vector<std::int64_t> sizes;
    const auto add = [&](std::int64_t elements, std::int64_t second) {
        for (const std::int64_t bytes : {shape.firstMoment, second}) {
            if (bytes > 0 && elements > 0) {
                sizes.push_back(elements * bytes);
            }
        }
    };
    for (const ParameterGroup group : parameterGroups) {
        if (!shape.orthogonalises) {
            for (const std::int64_t held : optimizerTensors(shape, parameterTensors(program, stage, group), group)) {
                add(held, shape.secondMoment);
            }
            continue;
        }
        if (shape.dealsTensors) {
            const auto tensors = parameterTensors(program, stage, group);
            const auto areMatrices = matrixFlags(program, stage, group);
            for (const std::size_t own : dealt(shape, tensors, group)) {
                add(tensors[own], areMatrices[own] ? shape.secondMoment : shape.otherSecondMoment);
            }
            continue;
        }
        std::int64_t matrices = 0, plain = 0; // of a distributed optimizer, which spreads both kinds evenly
        forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
            const auto& tensors = tensorsOf(piece, group);
            for (std::size_t i = 0; i < tensors.size(); ++i) {
                const bool isOrthogonal = isMatrix(piece, group, i);
                (isOrthogonal ? matrices : plain) += count * tensors[i];
                for (std::int64_t copy = 0; copy < count && !shape.isDistributedOptimizer; ++copy) {
                    add(tensors[i], isOrthogonal ? shape.secondMoment : shape.otherSecondMoment);
                }
            }
        });
        if (shape.isDistributedOptimizer) {
            add(matrices / optimizerShards(shape, group), shape.secondMoment);
            add(plain / optimizerShards(shape, group), shape.otherSecondMoment);
        }
    }
    return sizes;
}

std::vector<std::int64_t> optimizerTensors(const RankShape& shape, const std::vector<std::int64_t>& parameters,
                                           ParameterGroup group)
{
    std::vector<std::int64_t> tensors;
    if (shape.dealsTensors) {
        for (const std::size_t own : dealt(shape, parameters, group)) {
            tensors.push_back(parameters[own]);
        }
        return tensors;
    }
    const bool isSharded = shape.isDistributedOptimizer;
    const std::int64_t all = std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0});
    std::int64_t left = isSharded ? all / optimizerShards(shape, group) : all;
    for (auto tensor = parameters.rbegin(); tensor != parameters.rend() && left > 0; ++tensor) {
        const std::int64_t held = std::min(*tensor, left);
        left -= held;
        if (const std::int64_t kept = onGpu(shape, held); kept > 0) {
            tensors.push_back(kept);
        }
    }
    std::reverse(tensors.begin(), tensors.end());
    return tensors;
}

std::int64_t paddedElements(const RankShape& shape, const std::vector<std::int64_t>& parameters, ParameterGroup group)
{
    return paddedEnd(shape, std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0}, paddedStart), group);
}

std::vector<std::int64_t> fp8WeightCopies(const ModelProgram& program, const StageProgram& stage)
{
    const RankShape& shape = program.shape;
    std::vector<std::int64_t> copies;
    if (!shape.usesFp8 || shape.hasFp8Parameters || !shape.isTransformerEngine) {
        return copies;
    }
    const std::int64_t perElement = shape.capability < 10 || shape.scalesFp8ByBlock ? 2 : 1;
    forEachRun(program, stage, [&](const Piece& piece, std::int64_t count) {
        for (const auto* matrices : {&piece.matrices, &piece.expertMatrices, &piece.frozenMatrices}) {
            for (const Piece::Matrix& matrix : *matrices) {
                const std::int64_t elements = matrix.rows * matrix.columns;
                const std::int64_t scales = shape.scalesFp8ByBlock ? perElement * 4 * elements / (128 * 128) : 0;
                const bool isRouter = matrix.rows == shape.experts.count && matrix.columns == shape.hidden;
                copies.insert(copies.end(), static_cast<std::size_t>(isRouter ? 0 : count),
                              perElement * elements + scales);
            }
        }
    });
    return copies;
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
