// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_ops.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

bool SlotList::contains(Tape::Slot slot) const
{
    return std::find(begin(), end(), slot) != end();
}

void MegatronOps::declareStream(std::int64_t sequence)
{
    const std::int64_t bytes = streamBytes(c.microBatch * sequence / c.sequenceShards);
    w.declare(Tape::input, ResidualStream, bytes);
    w.declare(Tape::gradient, ActivationGradient, bytes);
}

void MegatronOps::cublas()
{
    w.ensure(w.isBackward() ? cublasBackwardKey : cublasForwardKey, CublasWorkspace, c.cublasWorkspace);
}

void MegatronOps::gemm()
{
    if (!c.isTransformerEngine) {
        cublas();
        return;
    }
    w.ensure(gemmKey, GemmWorkspace, c.gemmWorkspace);
    if (c.overlapsTensorParallel) {
        // A second workspace for the user-buffer streams, three of them (TE cpp_extensions/gemm.py).
        w.ensure(userBufferKey, GemmWorkspace, 3 * c.gemmWorkspace);
    }
}

Tape::Slot MegatronOps::linear(TensorKind kind, std::int64_t bytes, bool hasBias)
{
    gemm();
    if (c.isTransformerEngine) {
        return w.allocate(kind, bytes);
    }
    const Tape::Slot product = w.allocate(kind, bytes);
    if (!hasBias) {
        return product;
    }
    const Tape::Slot biased = w.allocate(kind, bytes);
    w.free(product);
    return biased;
}

MegatronOps::Gradients MegatronOps::linearBackward(std::int64_t inputBytes, std::int64_t rows, std::int64_t columns)
{
    if (!c.isTransformerEngine) {
        cublas();
    }
    Gradients gradients;
    gradients.input = w.allocate(ActivationGradient, inputBytes);
    if (c.isFrozen || c.delaysWeightGradients) {
        return gradients;
    }
    if (!c.fusesWeightGradients) {
        gradients.weight = w.allocate(WeightGradient, rows * columns * c.element);
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
    if (c.fusesWeightGradients) {
        placeholder(rows, columns);
    } else {
        w.free(w.allocate(WeightGradient, rows * columns * c.element));
    }
}

void MegatronOps::writeDelayedGradients()
{
    for (const DelayedGradient& delayed : m_delayed) {
        if (delayed.rows > 0) {
            delayedGradient(delayed.rows, delayed.columns, delayed.gatheredBytes);
        }
        w.free(delayed.input, delayed.outputGradient);
    }
    m_delayed.clear();
}

void MegatronOps::dropInput(Tape::Slot& slot)
{
    // A linear layer keeps its input for the weight's gradient only (theory.md 3.7).
    if (c.isFrozen) {
        w.free(slot);
        slot = Tape::none;
    }
}

void MegatronOps::placeholder(std::int64_t rows, std::int64_t columns)
{
    // TE module/base.py, get_dummy_wgrad: one cached tensor per weight shape.
    if (c.keepsPlaceholderGradients) {
        w.ensure(placeholderKey(rows, columns), PlaceholderGradients, rows * columns * c.element);
    }
}

Tape::Slot MegatronOps::gather(std::int64_t tokens)
{
    return c.sequenceShards > 1 ? w.allocate(GatheredInput, streamBytes(tokens)) : Tape::none;
}

Tape::Slot MegatronOps::gatherInput(std::int64_t tokens)
{
    if (c.isTransformerEngine || c.sequenceShards == 1) {
        return gather(tokens);
    }
    growGlobalBuffer(streamBytes(tokens));
    return Tape::none;
}

Tape::Slot MegatronOps::scatter(Tape::Slot full, TensorKind kind, std::int64_t tokens)
{
    if (c.sequenceShards == 1) {
        return full;
    }
    const Tape::Slot part = w.allocate(kind, streamBytes(tokens / c.sequenceShards));
    w.free(full);
    return part;
}

MegatronOps::Norm MegatronOps::norm(std::int64_t rows, std::int64_t width, bool feedsGemm)
{
    Norm result;
    result.output = w.allocate(NormOutput, rows * width * (feedsGemm && c.usesFp8 ? 1 : c.element));
    for (int i = 0; i < (c.isRms ? 1 : 2); ++i) {
        result.statistics.add(w.allocate(NormStatistics, rows * 4));
    }
    return result;
}

Tape::Slot MegatronOps::quantised(Tape::Slot slot, std::int64_t elements, bool isKept)
{
    if (!c.usesFp8) {
        return slot;
    }
    const Tape::Slot copy = w.allocate(Fp8Inputs, elements);
    if (!isKept) {
        w.free(slot);
    }
    return copy;
}

std::pair<Tape::Slot, Tape::Slot> MegatronOps::addResidual(Tape::Slot branch, std::int64_t rows)
{
    // The mask comes first: the hole a freed tensor leaves is then filled by it (theory_dense.md rule 26).
    const Tape::Slot mask = c.hasHiddenDropout ? w.allocate(DropoutMask, rows * c.hidden) : Tape::none;
    const Tape::Slot stream = w.allocate(ResidualStream, streamBytes(rows));
    w.free(branch);
    return {stream, mask};
}

Tape::Slot MegatronOps::rowLinearBackward(Tape::Slot mask, Tape::Slot savedInput, std::int64_t tokens,
                                          std::int64_t inputBytes, std::int64_t columns)
{
    Tape::Slot dropped = Tape::none;
    if (mask != Tape::none) {
        dropped = w.allocate(ActivationGradient, streamBytes(tokens / c.sequenceShards));
        w.free(mask);
    }
    const Tape::Slot gathered = gather(tokens);
    const Gradients gradients = linearBackward(inputBytes, c.hidden, columns);
    if (delays()) {
        // What reached the layer as its output's gradient stays: gathered, behind the dropout, or the stream's own.
        const Tape::Slot outputGradient = gathered != Tape::none ? gathered : dropped;
        w.free(gathered != Tape::none ? dropped : Tape::none);
        m_holdsStream = outputGradient == Tape::none;
        m_delayed.push_back({savedInput, outputGradient, c.hidden, columns, 0});
        return gradients.input;
    }
    w.free(gathered, dropped, savedInput, gradients.weight);
    return gradients.input;
}

void MegatronOps::normLinearBackward(const Norm& norm, std::int64_t tokens, std::int64_t rows,
                                     Tape::Slot outputGradient)
{
    const Tape::Slot gathered = gatherInput(tokens);
    Gradients gradients = linearBackward(streamBytes(tokens), rows, c.hidden);
    if (delays()) {
        // Transformer Engine keeps the gathered input, Megatron's own layers gather again.
        const bool isGathered = gathered != Tape::none;
        const std::int64_t again = c.sequenceShards > 1 && !isGathered ? streamBytes(tokens) : 0;
        m_delayed.push_back({isGathered ? gathered : norm.output, outputGradient, rows, c.hidden, again});
        gradients.input = scatter(gradients.input, ActivationGradient, tokens);
        const Tape::Slot added = w.allocate(ActivationGradient, streamBytes(tokens / c.sequenceShards));
        w.free(gradients.input, isGathered ? norm.output : Tape::none);
        w.freeAll(norm.statistics);
        if (m_holdsStream) {
            // The sum is a new tensor, since the gradient it is added to is still needed.
            m_delayed.push_back({Tape::none, added, 0, 0, 0});
            m_holdsStream = false;
        } else {
            w.free(added);
        }
        return;
    }
    w.free(gathered, outputGradient);
    gradients.input = scatter(gradients.input, ActivationGradient, tokens);
    const Tape::Slot added = w.allocate(ActivationGradient, streamBytes(tokens / c.sequenceShards));
    w.free(gradients.input, norm.output);
    w.freeAll(norm.statistics);
    w.free(gradients.weight, added);
}

} // namespace headroom
