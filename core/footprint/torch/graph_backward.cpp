// SPDX-License-Identifier: GPL-3.0-or-later
//
// The backward half of a module's tape: gradients of tensors, which live until their last reader, and of weights.
#include "footprint/torch/graph.h"

#include "footprint/megatron/ops.h"

#include <utility>

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint8_t reduceStream = 1;

} // namespace

void ModuleGraph::drop(std::int16_t gradient, TapeWriter& writer)
{
    Gradient& data = m_gradients[index(gradient)];
    if (--data.users == 0) {
        m_isInputGradientFree |= data.slot == Tape::gradient;
        const bool isKept = data.slot == Tape::gradient && m_flowing >= 0;
        writer.free(data.slot);
        if (isKept) { // at the same place, under another name
            keepFlowing(writer.allocate(ActivationGradient, bytesOf(m_operations.back().result)));
        }
    }
}

void ModuleGraph::addGradient(Tensor tensor, std::int16_t gradient, TapeWriter& writer)
{
    TensorData& data = m_tensors[index(tensor)];
    if (data.gradient < 0) {
        data.gradient = gradient;
        ++m_gradients[index(gradient)].users;
        return;
    }
    Gradient& known = m_gradients[index(data.gradient)];
    const Gradient& added = m_gradients[index(gradient)];
    if (known.users > 1 && known.slot != Tape::gradient) {
        // Others still need the first one as it is: the sum is a tensor of its own.
        const Tape::Slot sum = writer.allocate(ActivationGradient, data.bytes);
        --known.users;
        m_gradients.push_back({sum, 1});
        data.gradient = static_cast<std::int16_t>(m_gradients.size() - 1);
    } else if (known.slot == Tape::gradient) {
        const Tape::Slot sum = writer.allocate(ActivationGradient, data.bytes);
        // From here on in the place of the old one, so that the next module finds it there.
        m_flowing >= 0 ? keepFlowing(sum) : writer.free(sum);
    }
    if (added.users == 0 && added.slot != Tape::gradient) {
        writer.free(added.slot);
    }
}

void ModuleGraph::passGradients(const Operation& operation, TapeWriter& writer)
{
    const std::int16_t own = m_tensors[index(operation.result)].gradient;
    for (const Tensor read : operation.reads) {
        if (read == none || !needsGradient(read)) {
            continue;
        }
        if (operation.passesGradient) {
            addGradient(read, own, writer);
            continue;
        }
        const TensorData& data = m_tensors[index(read)];
        const bool isLogits = componentOf(data.kind) == Component::Logits;
        const bool isHandedOn = read == 0 && m_isInputGradientFree && data.gradient < 0;
        const TensorKind kind = isLogits ? LogitsGradient : ActivationGradient;
        const Tape::Slot slot
            = isHandedOn ? writer.allocateInto(Tape::gradient, kind, data.bytes) : writer.allocate(kind, data.bytes);
        m_isInputGradientFree &= !isHandedOn;
        m_gradients.push_back({slot, 0});
        addGradient(read, static_cast<std::int16_t>(m_gradients.size() - 1), writer);
    }
}

/// The module below finds the gradient of its output in the place of this one's, if it needs any.
void ModuleGraph::handOnGradient(TapeWriter& writer)
{
    const std::int16_t gradient = m_tensors[0].gradient;
    const Tape::Slot slot = gradient < 0 ? Tape::none : m_gradients[index(gradient)].slot;
    if (slot == Tape::gradient) {
        return;
    }
    if (!m_isInputGradientFree) {
        writer.free(Tape::gradient);
    }
    if (slot != Tape::none) {
        writer.free(slot);
        writer.allocateInto(Tape::gradient, ActivationGradient, bytesOf(0));
    }
}

void ModuleGraph::weightGradient(const Options& options, const Operation& operation, TapeWriter& writer)
{
    if (operation.weight == 0) {
        return;
    }
    const GradientRule& rule = options.gradients;
    const std::int64_t bytes
        = operation.weight * (operation.weightElement > 0 ? operation.weightElement : rule.element);
    const std::int64_t shards = operation.weightShards > 0 ? operation.weightShards : rule.shards;
    switch (rule.kind) {
    case GradientRule::Kind::Keep:
        writer.accumulate(Gradients, bytes, operation.sharedWeight);
        break;
    case GradientRule::Kind::Release:
        writer.free(writer.allocate(WeightGradient, bytes));
        break;
    case GradientRule::Kind::Reduce:
        if (options.leavesGradient && operation.isMatrixProduct) {
            writer.allocateInto(Tape::carried, WeightGradient, bytes);
            break;
        }
        if (options.foundGradient > 0 && operation.sharedWeight >= 0) {
            writer.free(writer.allocate(WeightGradient, bytes)); // added to the one that was left
            break;
        }
        m_unsharded.push_back(writer.allocate(WeightGradient, bytes));
        m_unshardedElements += operation.weight;
        m_ownElements += operation.weight / shards;
        break;
    case GradientRule::Kind::Whole: {
        const Tape::Slot fresh = writer.allocate(WeightGradient, bytes);
        writer.accumulate(Gradients, operation.weight * rule.reduced, operation.sharedWeight);
        writer.free(fresh);
        break;
    }
    case GradientRule::Kind::Partition:
        writer.free(writer.allocate(WeightGradient, bytes));
        writer.accumulate(Gradients, operation.weight * rule.shard / shards, operation.sharedWeight);
        break;
    }
}

/// Of the module together. The first FSDP's gradients are those of views of one flat tensor, which are joined when the
/// last one is there (tools/autograd, split_with_sizes_backward); then the gathered weights go, and the reduction reads
/// a copy where it has another type (torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook).
void ModuleGraph::reduce(const Options& options, Tape::Slot weights, TapeWriter& writer)
{
    const GradientRule& rule = options.gradients;
    if (options.foundGradient > 0) {
        writer.declare(Tape::carried, WeightGradient, options.foundGradient * rule.element);
        m_unsharded.push_back(Tape::carried);
        m_unshardedElements += options.foundGradient;
        m_ownElements += options.foundGradient / rule.shards;
    }
    if (rule.kind != GradientRule::Kind::Reduce || m_unshardedElements == 0) {
        writer.free(weights);
        return;
    }
    Tape::Slot flat = Tape::none, reduced = Tape::none;
    if (rule.isFlat) {
        flat = writer.allocate(WeightGradient, m_unshardedElements * rule.element);
        writer.freeAll(m_unsharded);
        writer.free(weights);
    }
    if (!rule.isFlat || rule.reduced != rule.element) {
        reduced = writer.allocate(ReduceBuffer, m_unshardedElements * rule.reduced);
    }
    if (!rule.isFlat) {
        writer.freeAll(m_unsharded);
    }
    if (rule.shard > 0) { // results of the reduction belong to the stream that reduces
        writer.accumulate(Gradients, m_ownElements * rule.shard, -1, reduceStream);
    }
    writer.free(reduced, flat);
    if (!rule.isFlat) {
        writer.free(weights);
    }
}

void ModuleGraph::freeInput(TapeWriter& writer)
{
    if (m_tensors[0].slot == Tape::input && bytesOf(0) > 0) {
        writer.free(Tape::input);
    }
}

/// All that an operation saved for its backward.
void ModuleGraph::releaseSaved(std::size_t index, TapeWriter& writer)
{
    const Operation& operation = m_operations[index];
    if (isActive(operation)) {
        for (std::size_t k = 0; k < operation.reads.size(); ++k) {
            if (operation.reads[k] != none && operation.saves[k]) {
                release(operation.reads[k], writer);
            }
        }
        if (operation.savesResult) {
            release(operation.result, writer);
        }
    }
    writer.freeAll(m_kept[index]);
}

void ModuleGraph::runBackward(const Options& options, Tape::Slot weights, TapeWriter& writer)
{
    m_isInputGradientFree = !options.hasOutput;
    m_gradients.push_back({options.hasOutput ? Tape::Slot{Tape::gradient} : Tape::none, 1});
    m_tensors[index(m_operations.back().result)].gradient = 0;
    for (std::size_t i = m_operations.size(); i-- > 0;) {
        const Operation& operation = m_operations[i];
        const Rebuilt* rebuilt = rebuiltWith(i);
        if (rebuilt != nullptr && rebuilt->isActive && i == rebuilt->last) {
            rebuild(*rebuilt, options, writer);
        }
        if (isActive(operation) && m_tensors[index(operation.result)].gradient >= 0) {
            if (operation.isMatrixProduct && options.cublasWorkspace > 0) {
                writer.ensure(CublasBackwardKey, CublasWorkspace, options.cublasWorkspace);
            }
            if (options.offload != Offload::None) {
                bringBack(operation, writer);
            }
            const Tape::Slot work
                = operation.backwardWork > 0 ? writer.allocate(ActivationGradient, operation.backwardWork) : Tape::none;
            if (operation.keepsGradients && !isRetained(i)) {
                writer.freeAll(m_kept[i]);
                m_kept[i].clear();
            }
            if (m_isSplit && operation.weight > 0) {
                capture(i);
                passGradients(operation, writer);
            } else {
                passGradients(operation, writer);
                weightGradient(options, operation, writer);
            }
            writer.free(work);
        }
        if (!isRetained(i)) {
            releaseSaved(i, writer);
        }
        writer.freeAll(options.offload == Offload::Streams ? m_returnedBefore : m_returned);
        m_returnedBefore = options.offload == Offload::Streams ? std::move(m_returned) : std::vector<Tape::Slot>{};
        m_returned.clear();
        if (const std::int16_t own = m_tensors[index(operation.result)].gradient; own >= 0) {
            drop(own, writer);
        }
        if (rebuilt != nullptr && rebuilt->isActive && i == rebuilt->first) {
            for (const Tensor input : rebuilt->inputs) {
                release(input, writer);
            }
        }
    }
    writer.freeAll(m_returnedBefore);
    m_returnedBefore.clear();
    for (std::size_t tensor = 1; tensor < m_tensors.size(); ++tensor) {
        // Held for other reasons than a backward; the output went on to whoever read it.
        const bool isOutput = options.hasOutput && static_cast<Tensor>(tensor) == storageOf(m_operations.back().result);
        if (m_tensors[tensor].isHeld && !isOutput && m_tensors[tensor].base == static_cast<Tensor>(tensor)) {
            writer.free(m_tensors[tensor].slot);
        }
    }
    if (!m_isSplit) {
        reduce(options, weights, writer);
        freeInput(writer);
    }
    if (options.hasOutput) {
        handOnGradient(writer);
    }
}

} // namespace headroom
