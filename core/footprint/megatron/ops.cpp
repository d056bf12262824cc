// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/ops.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

void MegatronOps::declareStream(std::int64_t sequence)
{
    const std::int64_t bytes = streamBytes(shape.microBatch * sequence / shape.sequenceShards);
    writer.declare(Tape::input, ResidualStream, bytes);
    writer.declare(Tape::gradient, ActivationGradient, bytes);
}

void MegatronOps::cublas()
{
    writer.ensure(writer.isBackward() ? CublasBackwardKey : CublasForwardKey, CublasWorkspace, shape.cublasWorkspace);
}

void MegatronOps::gemm()
{
    if (!shape.isTransformerEngine) {
        cublas();
        return;
    }
    writer.ensure(GemmKey, GemmWorkspace, shape.gemmWorkspace);
    if (shape.overlapsTensorParallel) {
        // A second workspace for the user-buffer streams, three of them (TE cpp_extensions/gemm.py).
        writer.ensure(UserBufferKey, GemmWorkspace, 3 * shape.gemmWorkspace);
    }
}

Tape::Slot MegatronOps::linear(TensorKind kind, std::int64_t bytes, bool hasBias)
{
    gemm();
    if (shape.isTransformerEngine) {
        return writer.allocate(kind, bytes);
    }
    const Tape::Slot product = writer.allocate(kind, bytes);
    if (!hasBias) {
        return product;
    }
    const Tape::Slot biased = writer.allocate(kind, bytes);
    writer.free(product);
    return biased;
}

MegatronOps::Gradients MegatronOps::linearBackward(std::int64_t inputBytes, std::int64_t rows, std::int64_t columns,
                                                   std::uint32_t parts)
{
    if (!shape.isTransformerEngine) {
        cublas();
    }
    Gradients gradients;
    gradients.input = writer.allocate(ActivationGradient, inputBytes);
    if (!shape.trains(parts) || shape.delaysWeightGradients) {
        return gradients;
    }
    if (!shape.fusesWeightGradients) {
        gradients.weight = writer.allocate(WeightGradient, rows * columns * shape.element);
    } else {
        placeholder(rows, columns);
    }
    return gradients;
}

void MegatronOps::delayedGradient(std::int64_t rows, std::int64_t columns, std::int64_t gatheredBytes)
{
    if (gatheredBytes > 0) {
        growGlobalBuffer(gatheredBytes);
    }
    gemm();
    if (shape.fusesWeightGradients) {
        placeholder(rows, columns);
    } else {
        writer.free(writer.allocate(WeightGradient, rows * columns * shape.element));
    }
}

void MegatronOps::writeDelayedGradients()
{
    for (const DelayedGradient& delayed : m_delayed) {
        if (delayed.rows > 0) {
            delayedGradient(delayed.rows, delayed.columns, delayed.gatheredBytes);
        }
        writer.free(delayed.input, delayed.outputGradient);
    }
    m_delayed.clear();
}

void MegatronOps::dropInput(Tape::Slot& slot, std::uint32_t parts)
{
    // A linear layer keeps its input for the weight's gradient only (theory.md 3.7).
    if (!shape.trains(parts)) {
        writer.free(slot);
        slot = Tape::none;
    }
}

void MegatronOps::placeholder(std::int64_t rows, std::int64_t columns)
{
    // TE module/base.py, get_dummy_wgrad: one cached tensor per weight shape.
    if (shape.keepsPlaceholderGradients) {
        writer.ensure(placeholderKey(rows, columns), PlaceholderGradients, rows * columns * shape.element);
    }
}

Tape::Slot MegatronOps::gather(std::int64_t tokens)
{
    return shape.sequenceShards > 1 ? writer.allocate(GatheredInput, streamBytes(tokens)) : Tape::none;
}

Tape::Slot MegatronOps::gatherInput(std::int64_t tokens)
{
    if (shape.isTransformerEngine || shape.sequenceShards == 1) {
        return gather(tokens);
    }
    growGlobalBuffer(streamBytes(tokens));
    return Tape::none;
}

Tape::Slot MegatronOps::scatter(Tape::Slot full, TensorKind kind, std::int64_t tokens)
{
    if (shape.sequenceShards == 1) {
        return full;
    }
    const Tape::Slot part = writer.allocate(kind, streamBytes(tokens / shape.sequenceShards));
    writer.free(full);
    return part;
}

MegatronOps::Norm MegatronOps::norm(std::int64_t rows, std::int64_t width, bool feedsGemm)
{
    Norm result;
    result.output = normOutput(rows, width, feedsGemm);
    for (int i = 0; i < (shape.isRms ? 1 : 2); ++i) {
        result.statistics.add(writer.allocate(NormStatistics, rows * 4));
    }
    return result;
}

Tape::Slot MegatronOps::normOutput(std::int64_t rows, std::int64_t width, bool feedsGemm)
{
    return writer.allocate(NormOutput, rows * width * (feedsGemm && shape.usesFp8 ? 1 : shape.element));
}

Tape::Slot MegatronOps::quantised(Tape::Slot slot, std::int64_t elements, bool isKept)
{
    if (!shape.usesFp8) {
        return slot;
    }
    const Tape::Slot copy = writer.allocate(Fp8Inputs, elements);
    if (!isKept) {
        writer.free(slot);
    }
    return copy;
}

std::pair<Tape::Slot, Tape::Slot> MegatronOps::addResidual(Tape::Slot branch, std::int64_t rows)
{
    // The mask comes first: the hole a freed tensor leaves is then filled by it (theory_dense.md rule 26).
    const Tape::Slot mask = shape.hasHiddenDropout ? writer.allocate(DropoutMask, rows * shape.hidden) : Tape::none;
    const Tape::Slot stream = writer.allocate(ResidualStream, streamBytes(rows));
    writer.free(branch);
    return {stream, mask};
}

Tape::Slot MegatronOps::rowLinearBackward(Tape::Slot mask, Tape::Slot savedInput, std::int64_t tokens,
                                          std::int64_t inputBytes, std::int64_t columns, std::uint32_t parts)
{
    Tape::Slot dropped = Tape::none;
    if (mask != Tape::none) {
        dropped = writer.allocate(ActivationGradient, streamBytes(tokens / shape.sequenceShards));
        writer.free(mask);
    }
    const Tape::Slot gathered = gather(tokens);
    const Gradients gradients = linearBackward(inputBytes, shape.hidden, columns, parts);
    if (delays(parts)) {
        // What reached the layer as its output's gradient stays: gathered, behind the dropout, or the stream's own.
        const Tape::Slot outputGradient = gathered != Tape::none ? gathered : dropped;
        writer.free(gathered != Tape::none ? dropped : Tape::none);
        m_holdsStream = outputGradient == Tape::none;
        m_delayed.push_back({savedInput, outputGradient, shape.hidden, columns, 0});
        return gradients.input;
    }
    writer.free(gathered, dropped, savedInput, gradients.weight);
    return gradients.input;
}

void MegatronOps::normLinearBackward(const Norm& norm, std::int64_t tokens, std::int64_t rows,
                                     Tape::Slot outputGradient, std::uint32_t parts)
{
    const Tape::Slot gathered = gatherInput(tokens);
    Gradients gradients = linearBackward(streamBytes(tokens), rows, shape.hidden, parts);
    if (delays(parts)) {
        // Transformer Engine keeps the gathered input, Megatron's own layers gather again.
        const bool isGathered = gathered != Tape::none;
        const std::int64_t again = shape.sequenceShards > 1 && !isGathered ? streamBytes(tokens) : 0;
        m_delayed.push_back({isGathered ? gathered : norm.output, outputGradient, rows, shape.hidden, again});
        gradients.input = scatter(gradients.input, ActivationGradient, tokens);
        const Tape::Slot added = writer.allocate(ActivationGradient, streamBytes(tokens / shape.sequenceShards));
        writer.free(gradients.input, isGathered ? norm.output : Tape::none);
        writer.freeAll(norm.statistics);
        if (m_holdsStream) {
            // The sum is a new tensor, since the gradient it is added to is still needed.
            m_delayed.push_back({Tape::none, added, 0, 0, 0});
            m_holdsStream = false;
        } else {
            writer.free(added);
        }
        return;
    }
    writer.free(gathered, outputGradient);
    gradients.input = scatter(gradients.input, ActivationGradient, tokens);
    const Tape::Slot added = writer.allocate(ActivationGradient, streamBytes(tokens / shape.sequenceShards));
    writer.free(gradients.input, norm.output);
    writer.freeAll(norm.statistics);
    writer.free(gradients.weight, added);
}

} // namespace headroom
