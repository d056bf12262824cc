// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/graph.h"

#include "footprint/megatron/ops.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint8_t gatherStream = 2;
constexpr std::uint64_t bucketKey = 0x6275636b657473; // apart from the profiles' keys

} // namespace

ModuleGraph::ModuleGraph(std::int64_t inputBytes, bool inputNeedsGradient)
{
    TensorData input;
    input.bytes = inputBytes;
    input.kind = ResidualStream;
    input.base = 0;
    input.needsGradient = inputNeedsGradient;
    m_tensors.push_back(input);
}

ModuleGraph::Tensor ModuleGraph::storageOf(Tensor tensor) const
{
    return m_tensors[index(tensor)].base;
}

ModuleGraph::Tensor ModuleGraph::apply(Operation operation)
{
    TensorData data;
    const auto result = static_cast<Tensor>(m_tensors.size());
    data.kind = operation.kind;
    data.bytes = operation.bytes;
    data.base = result;
    if (operation.bytes == 0 && operation.reads[0] != none) {
        data.base = storageOf(operation.reads[0]);
        data.bytes = bytesOf(operation.reads[0]);
    }
    data.needsGradient = operation.weight > 0
        || std::any_of(operation.reads.begin(), operation.reads.end(),
                       [this](Tensor read) { return read != none && needsGradient(read); });
    m_tensors.push_back(data);
    operation.result = result;
    m_operations.push_back(std::move(operation));
    return result;
}

void ModuleGraph::store(Tensor tensor)
{
    m_tensors[index(storageOf(tensor))].isStored = true;
    m_isSelective = true;
}

bool ModuleGraph::isActive(const Operation& operation) const
{
    return needsGradient(operation.result);
}

void ModuleGraph::countUses()
{
    for (std::size_t i = 0; i < m_operations.size(); ++i) {
        const Operation& operation = m_operations[i];
        const bool saves = isActive(operation) && rebuiltWith(i) == nullptr;
        for (std::size_t k = 0; k < operation.reads.size(); ++k) {
            if (operation.reads[k] == none) {
                continue;
            }
            TensorData& storage = m_tensors[index(storageOf(operation.reads[k]))];
            storage.lastReader = static_cast<std::int16_t>(i);
            storage.savers = static_cast<std::int16_t>(storage.savers + (operation.saves[k] && saves));
        }
        TensorData& result = m_tensors[index(storageOf(operation.result))];
        result.lastReader = std::max(result.lastReader, static_cast<std::int16_t>(i));
        result.savers = static_cast<std::int16_t>(result.savers + (operation.savesResult && saves));
    }
    for (TensorData& tensor : m_tensors) {
        tensor.lastReader = tensor.isNamed ? static_cast<std::int16_t>(m_operations.size() - 1) : tensor.lastReader;
    }
}

Tape::Slot ModuleGraph::gatherBuffer(const Options& options, TapeWriter& writer)
{
    return options.gatherBuffer > 0 ? writer.allocateOn(gatherStream, GatheredParameters, options.gatherBuffer)
                                    : Tape::none;
}

/// The first FSDP's are written on the stream that gathers (torch/distributed/fsdp/_runtime_utils.py, _unshard).
Tape::Slot ModuleGraph::gathered(const Options& options, TapeWriter& writer)
{
    if (!options.gathersInPlace) {
        return writer.allocate(GatheredParameters, options.gathered);
    }
    const Tape::Slot copy
        = options.shardCopy > 0 ? writer.allocateOn(gatherStream, GatheredParameters, options.shardCopy) : Tape::none;
    const Tape::Slot weights = writer.allocateOn(gatherStream, GatheredParameters, options.gathered);
    writer.free(copy);
    return weights;
}

Tape::Slot ModuleGraph::gather(const Options& options, TapeWriter& writer)
{
    if (options.gathered == 0) {
        return Tape::none;
    }
    const Tape::Slot buffer = gatherBuffer(options, writer);
    const Tape::Slot parameters = gathered(options, writer);
    writer.free(buffer);
    return parameters;
}

void ModuleGraph::write(const Options& options, TapeWriter& writer)
{
    countUses();
    countRebuilt();
    m_tensors[0].slot = Tape::input;
    const Tensor output = options.hasOutput ? storageOf(m_operations.back().result) : none;
    if (output != none) {
        m_tensors[index(output)].isHeld = true;
    }
    // In the forward the result of the collective stays until the next module has asked for its own (FSDP2
    // _fsdp_param_group.py, wait_for_unshard: "implicit prefetch").
    const Tape::Slot buffer = gatherBuffer(options, writer);
    Tape::Slot weights = options.gathered > 0 ? gathered(options, writer) : Tape::none;
    if (options.hasOutput) {
        writer.declare(Tape::gradient, ActivationGradient, bytesOf(output));
    }
    if (bytesOf(0) > 0) {
        writer.declare(Tape::input, ResidualStream, bytesOf(0));
    }
    runForward(options, writer, false);
    writer.freeAll(m_leaving);
    m_leaving.clear();
    writer.free(options.keepsGathered ? Tape::none : weights);
    if (buffer != Tape::none && options.followingBuffer > 0) {
        writer.free(writer.allocateOn(gatherStream, GatheredParameters, options.followingBuffer));
    }
    writer.free(buffer);
    writer.beginBackward(output == none ? Tape::none : m_tensors[index(output)].slot);

    if (options.carriedGradient > 0) {
        writer.allocateInto(Tape::carried, ActivationGradient, options.carriedGradient);
    }
    if (options.reduceBuckets > 0) {
        writer.ensureForStep(bucketKey, ReduceBuffer, options.reduceBuckets);
    }
    Tape::Slot next = Tape::none;
    if (options.prefetches && options.gatherBuffer > 0 && !options.keepsGathered) {
        // The module behind has gathered this one, which gathers the next (FSDP2 _fsdp_param_group.py,
        // _backward_prefetch); copied out when that one's backward begins (theory.md 2.4).
        weights = gathered(options, writer);
        next = options.precedingBuffer > 0
            ? writer.allocateOn(gatherStream, GatheredParameters, options.precedingBuffer)
            : Tape::none;
    } else if (!options.keepsGathered) {
        weights = gather(options, writer);
        next = options.prefetches && options.gathersInPlace && options.precedingBuffer > 0
            ? writer.allocateOn(gatherStream, GatheredParameters, options.precedingBuffer)
            : Tape::none;
    }
    if (m_isSelective) {
        runForward(options, writer, true);
    }
    runBackward(options, weights, writer);
    writer.free(next);
}

/// Rebuilding makes again what a selective checkpoint did not store.
void ModuleGraph::runForward(const Options& options, TapeWriter& writer, bool isRebuilding)
{
    m_kept.resize(m_operations.size());
    const auto isDropped = [&](const TensorData& storage) {
        const bool isStoring = m_isSelective && !isRebuilding;
        return !storage.isHeld && (isStoring ? !storage.isStored : storage.savers == 0);
    };
    for (std::size_t i = 0; i < m_operations.size(); ++i) {
        const Operation& operation = m_operations[i];
        TensorData& result = m_tensors[index(operation.result)];
        const bool isThere = isRebuilding && (result.isStored || result.isHeld) && result.base == operation.result;
        if (operation.isMatrixProduct && options.cublasWorkspace > 0) {
            writer.ensure(writer.isBackward() ? CublasBackwardKey : CublasForwardKey, CublasWorkspace,
                          options.cublasWorkspace);
        }
        if (!isThere) {
            const Tape::Slot work
                = operation.forwardWork > 0 ? writer.allocate(PartialOutput, operation.forwardWork) : Tape::none;
            if (result.base == operation.result && result.bytes > 0) {
                result.slot = writer.allocate(operation.kind, operation.bytes);
            }
            const bool keeps = isActive(operation) && (!m_isSelective || isRebuilding || result.isStored)
                && rebuiltWith(i) == nullptr;
            for (const Extra& extra : operation.keeps) {
                if (keeps && options.offload != Offload::None) {
                    leave(writer.allocate(extra.kind, extra.bytes), options, writer);
                } else if (keeps) {
                    m_kept[i].push_back(writer.allocate(extra.kind, extra.bytes));
                }
            }
            writer.free(work);
        }
        for (std::size_t tensor = 0; tensor < m_tensors.size(); ++tensor) {
            TensorData& storage = m_tensors[tensor];
            const bool isInput = tensor == 0;
            const bool isKeptInput = isInput && (options.keepsInput || m_isSelective);
            if (storage.base == static_cast<Tensor>(tensor) && storage.lastReader == static_cast<std::int16_t>(i)
                && isDropped(storage) && !isKeptInput) {
                writer.free(storage.slot);
                storage.slot = Tape::none;
            } else if (storage.base == static_cast<Tensor>(tensor) && options.offload != Offload::None
                       && storage.lastReader == static_cast<std::int16_t>(i) && storage.savers > 0 && !storage.isHeld) {
                leave(storage.slot, options, writer);
                storage.slot = Tape::none;
            }
        }
    }
}

/// Saved tensors are freed once they are copied; up to five wait for that (max_fwd_stash_size).
void ModuleGraph::leave(Tape::Slot slot, const Options& options, TapeWriter& writer)
{
    const std::size_t mostWaiting = options.offload == Offload::Streams ? 5 : 0;
    m_leaving.push_back(slot);
    if (m_leaving.size() > mostWaiting) {
        writer.free(m_leaving.front());
        m_leaving.erase(m_leaving.begin());
    }
}

/// A copy for the backward of `operation` of everything that it saved.
void ModuleGraph::bringBack(const Operation& operation, TapeWriter& writer)
{
    const auto copy = [&](Tensor tensor) {
        const TensorData& storage = m_tensors[index(storageOf(tensor))];
        if (!storage.isHeld) {
            m_returned.push_back(writer.allocate(storage.kind, storage.bytes));
        }
    };
    for (std::size_t k = 0; k < operation.reads.size(); ++k) {
        if (operation.reads[k] != none && operation.saves[k]) {
            copy(operation.reads[k]);
        }
    }
    if (operation.savesResult) {
        copy(operation.result);
    }
    for (const Extra& extra : operation.keeps) {
        m_returned.push_back(writer.allocate(extra.kind, extra.bytes));
    }
}

void ModuleGraph::release(Tensor tensor, TapeWriter& writer)
{
    TensorData& storage = m_tensors[index(storageOf(tensor))];
    if (--storage.savers == 0 && !storage.isHeld && storageOf(tensor) != 0) {
        writer.free(storage.slot);
        storage.slot = Tape::none;
    }
}

} // namespace headroom
