// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/modules.h"

namespace headroom {

using enum TensorKind;

MegatronModules::Storage MegatronModules::weightGradient(std::int64_t rows, std::int64_t columns, std::uint32_t parts)
{
    if (m_ops.delays() || !m_shape.trains(parts)) {
        return {};
    }
    if (!m_shape.fusesWeightGradients) {
        return recorder.allocate(WeightGradient, rows * columns * m_shape.element);
    }
    m_ops.placeholder(rows, columns);
    return {};
}

void MegatronModules::delay(Storage input, Storage outputGradient, const Linear& linear, std::int64_t gatheredBytes)
{
    m_holdsStream = m_holdsStream || recorder.isBorrowed(outputGradient);
    m_delayed.push_back({std::move(input), std::move(outputGradient), linear.outputs, linear.inputs, gatheredBytes});
}

void MegatronModules::keepStream()
{
    if (m_holdsStream) {
        m_delayed.push_back({{}, recorder.allocate(ActivationGradient, m_shape.boundaryBytes()), 0, 0, 0});
    }
    m_holdsStream = false;
}

void MegatronModules::writeDelayedGradients()
{
    for (DelayedGradient& delayed : m_delayed) {
        if (delayed.rows > 0) {
            m_ops.delayedGradient(delayed.rows, delayed.columns, delayed.gatheredBytes);
        }
        delayed.input = delayed.outputGradient = {};
    }
    m_delayed.clear();
}

MegatronModules::Storage MegatronModules::keptInput(const Storage& input, std::int64_t bytes)
{
    return m_shape.usesFp8 && m_shape.isTransformerEngine ? recorder.allocate(Fp8Inputs, bytes / m_shape.element)
                                                          : input;
}

MegatronModules::Tensor MegatronModules::norm(const Tensor& input, std::int64_t width)
{
    const Storage statistics
        = recorder.allocate(NormStatistics, statisticsBytes() * input.bytes / (m_shape.element * width));
    return recorder.run({input}, NormOutput, input.bytes, {input.storage, statistics});
}

/// mcore-bridge 1.6, tuners/lora.py, forward: the input, perhaps dropped out, through the rank and back to the width of
/// the result, scaled and added out of place. The halves are Transformer Engine's layers, which keep their inputs.
MegatronModules::Tensor MegatronModules::adapted(const Tensor& input, Tensor base, std::int64_t rows, unsigned target)
{
    if (!m_shape.hasAdapter(target)) {
        return base;
    }
    Tensor read = input;
    if (m_shape.hasAdapterDropout) {
        const Storage mask = recorder.allocate(DropoutMask, input.bytes / m_shape.element);
        read = recorder.run({input}, AdapterActivations, input.bytes, {mask});
    }
    const std::int64_t narrow = rows * m_shape.adapters.rank * m_shape.element;
    Tensor low = recorder.run({read}, AdapterActivations, narrow, {read.storage});
    read = {};
    Tensor high = recorder.run({low}, AdapterActivations, base.bytes, {low.storage});
    low = {};
    Tensor scaled = recorder.run({high}, AdapterActivations, base.bytes);
    high = {};
    return recorder.run({base, scaled}, AdapterActivations, base.bytes, {}, TapeRecorder::passed(2));
}

MegatronModules::Tensor MegatronModules::columnParallel(const Tensor& input, const Linear& given)
{
    Linear linear = given;
    if (m_shape.hasAdapter(linear.target) && linear.hasNorm) {
        linear.hasNorm = false; // its adapter reads what the norm made
        return columnParallel(norm(input, linear.inputs), linear);
    }
    linear.savesInput = linear.savesInput && m_shape.trains(linear.parts);
    const std::int64_t full = linear.tokens * linear.inputs * m_shape.element;
    const bool isSplit = m_shape.sequenceShards > 1;
    Storages saved;
    Storage read = input.storage;
    if (linear.hasNorm) {
        read = recorder.allocate(NormOutput, input.bytes);
        saved.push_back(input.storage);
        saved.push_back(
            recorder.allocate(NormStatistics, statisticsBytes() * input.bytes / (m_shape.element * linear.inputs)));
    }
    if (linear.savesInput) {
        read = keptInput(read, input.bytes);
        saved.push_back(read);
    }
    m_ops.gemm();
    Storage whole;
    if (isSplit && m_shape.isTransformerEngine) {
        whole = recorder.allocate(GatheredInput, full);
    } else if (isSplit) {
        m_ops.growGlobalBuffer(full);
    }
    const Storage kept = m_ops.delays() && linear.savesInput ? read : Storage{};
    Tensor result
        = recorder.run({input}, linear.kind, linear.tokens * linear.outputs * m_shape.element, std::move(saved),
                       [this, linear, full, isSplit, kept](const Storages& outputs) {
                           Storage again;
                           if (isSplit && linear.savesInput && m_shape.isTransformerEngine) {
                               again = recorder.allocate(GatheredInput, full);
                           } else if (isSplit && linear.savesInput) {
                               m_ops.growGlobalBuffer(full);
                           }
                           m_ops.gemm();
                           if (m_ops.delays(linear.parts)) {
                               // Transformer Engine keeps the gathered input, Megatron's own layers gather again.
                               delay(again ? again : kept, outputs.front(), linear, isSplit && !again ? full : 0);
                           }
                           Storage gradient = recorder.allocate(ActivationGradient, full);
                           Storage weight;
                           if (isSplit) {
                               Storage part = recorder.allocate(ActivationGradient, full / m_shape.sequenceShards);
                               weight = weightGradient(linear.outputs, linear.inputs, linear.parts);
                               gradient = std::move(part);
                           } else {
                               weight = weightGradient(linear.outputs, linear.inputs, linear.parts);
                           }
                           if (linear.hasNorm) {
                               again = {};
                               weight = {};
                               gradient = recorder.allocate(ActivationGradient, full / m_shape.sequenceShards);
                           }
                           return Storages{gradient};
                       });
    whole = {};
    return adapted(input, std::move(result), linear.tokens / m_shape.sequenceShards, linear.target);
}

MegatronModules::Tensor MegatronModules::rowParallel(const Tensor& input, const Linear& linear)
{
    const std::int64_t full = linear.tokens * linear.outputs * m_shape.element;
    const bool isSplit = m_shape.sequenceShards > 1;
    m_ops.gemm();
    Storage product;
    if (isSplit) {
        product = recorder.allocate(linear.kind, full);
    }
    const Storage read = m_shape.trains(linear.parts) ? keptInput(input.storage, input.bytes) : Storage{};
    const Storage kept = m_ops.delays() ? read : Storage{};
    Tensor result = recorder.run({input}, linear.kind, full / m_shape.sequenceShards, {read},
                                 [this, linear, full, isSplit, kept](const Storages& outputs) {
                                     Storage whole;
                                     if (isSplit) {
                                         whole = recorder.allocate(GatheredInput, full);
                                     }
                                     m_ops.gemm();
                                     if (m_ops.delays(linear.parts)) {
                                         delay(kept, whole ? whole : outputs.front(), linear);
                                     }
                                     const Storage gradient = recorder.allocate(
                                         ActivationGradient, linear.tokens * linear.inputs * m_shape.element);
                                     const Storage weight = weightGradient(linear.outputs, linear.inputs, linear.parts);
                                     return Storages{gradient};
                                 });
    product = {};
    return adapted(input, std::move(result), linear.tokens / m_shape.sequenceShards, linear.target);
}

MegatronModules::Tensor MegatronModules::replicated(const Tensor& input, const Linear& linear)
{
    const std::int64_t inputBytes = input.bytes;
    const Storage kept = m_ops.delays() ? input.storage : Storage{};
    m_ops.gemm();
    Tensor result = recorder.run({input}, linear.kind, linear.tokens * linear.outputs * m_shape.element,
                                 {m_shape.trains(linear.parts) ? input.storage : Storage{}},
                                 [this, linear, inputBytes, kept](const Storages& outputs) {
                                     m_ops.gemm();
                                     if (m_ops.delays(linear.parts)) {
                                         delay(kept, outputs.front(), linear);
                                     }
                                     const Storage gradient = recorder.allocate(ActivationGradient, inputBytes);
                                     const Storage weight = weightGradient(linear.outputs, linear.inputs, linear.parts);
                                     return Storages{gradient};
                                 });
    return adapted(input, std::move(result), linear.tokens, linear.target);
}

MegatronModules::Tensor MegatronModules::activation(const Tensor& input, std::int64_t rows, std::int64_t width,
                                                    bool isFused, const Tensor* probabilities)
{
    const std::int64_t bytes = rows * width * m_shape.element;
    if (isFused) { // fusions/fused_bias_swiglu.py, WeightedSwiGLUFunction: its inputs are all it keeps
        if (probabilities == nullptr) {
            return recorder.run({input}, ActivationOutput, bytes, {input.storage});
        }
        return recorder.run({input, *probabilities}, ActivationOutput, bytes, {input.storage, probabilities->storage});
    }
    Tensor result;
    if (m_shape.gates == 2) {
        const Tensor gate = recorder.run({input}, ActivationOutput, bytes, {input.storage});
        result = recorder.run({gate, input}, ActivationOutput, bytes, {gate.storage, input.storage});
    } else {
        result = recorder.run({input}, ActivationOutput, bytes, {input.storage});
    }
    if (probabilities == nullptr) {
        return result;
    }
    const Storages factors{result.storage, probabilities->storage};
    if (m_shape.experts.probability <= m_shape.element) {
        return recorder.run({result, *probabilities}, ActivationOutput, bytes, factors);
    }
    // The product with wider probabilities is as wide, and cast back.
    const Tensor wide
        = recorder.run({result, *probabilities}, ActivationOutput, rows * width * m_shape.experts.probability, factors);
    result = {};
    return recorder.run({wide}, ActivationOutput, bytes);
}

MegatronModules::Tensor MegatronModules::mlp(const Tensor& input, std::int64_t width)
{
    const std::int64_t tokens = m_shape.tokens();
    Tensor wide = columnParallel(input,
                                 {tokens, m_shape.hidden, m_shape.gates * width, Fc1Output, false, true,
                                  Adapters::MlpIn, TrainedParts::SharedGate | TrainedParts::SharedUp});
    const bool isFused = m_shape.gates == 2 || m_shape.hasMlpBias;
    const Tensor active = activation(wide, tokens, width, isFused);
    wide = {};
    return rowParallel(
        active,
        {tokens, width, m_shape.hidden, PartialOutput, false, true, Adapters::MlpOut, TrainedParts::SharedDown});
}

MegatronModules::AttentionBytes MegatronModules::bytesOf(const Heads& heads) const
{
    const std::int64_t each = m_shape.tokens() * m_shape.element;
    return {each * heads.queries * heads.keyDim, each * heads.keys * heads.keyDim, each * heads.keys * heads.valueDim,
            each * heads.queries * heads.valueDim};
}

MegatronModules::Tensor MegatronModules::attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                                const Heads& heads)
{
    const auto run = [this, heads](const Tensors& qkv) {
        return Tensors{m_shape.context > 1 ? attendSplit(qkv[0], qkv[1], qkv[2], heads)
                                           : attendUnsplit(qkv[0], qkv[1], qkv[2], heads)};
    };
    return m_shape.recomputesAttention ? recorder.checkpoint(run, {query, key, value})
                                       : run({query, key, value}).front();
}

MegatronModules::Tensor MegatronModules::attendUnsplit(const Tensor& query, const Tensor& key, const Tensor& value,
                                                       const Heads& heads)
{
    if (m_shape.kernel == AttentionKernel::Fused) {
        return attendFused({query, key, value}, heads);
    }
    if (m_shape.kernel == AttentionKernel::Flash) {
        return attendFlash({query, key, value}, heads);
    }
    return attendScores({query, key, value}, heads);
}

MegatronModules::Tensor MegatronModules::attendFused(const Tensors& qkv, const Heads& heads)
{
    const AttentionBytes bytes = bytesOf(heads);
    const Storage statistics
        = recorder.allocate(SoftmaxStatistics, 4 * m_shape.microBatch * heads.queries * m_shape.sequence);
    return recorder.runKeepingOutput(
        qkv, Context, bytes.context, {qkv[0].storage, qkv[1].storage, qkv[2].storage, statistics},
        [this, bytes, heads](const Storages&) {
            Storages gradients;
            if (heads.isPacked) {
                const Storage packed = recorder.allocate(ActivationGradient, bytes.query + bytes.key + bytes.value);
                gradients.assign(3, packed);
            }
            const Storage sum = recorder.allocate(AttentionWorkspace, bytes.query / m_shape.element * 4);
            if (!heads.isPacked) {
                for (const std::int64_t size : {bytes.query, bytes.key, bytes.value}) {
                    gradients.push_back(recorder.allocate(ActivationGradient, size));
                }
            }
            return gradients;
        });
}

MegatronModules::Tensor MegatronModules::attendFlash(Tensors qkv, const Heads& heads)
{
    const AttentionBytes bytes = bytesOf(heads);
    const Storage statistics
        = recorder.allocate(SoftmaxStatistics, 4 * m_shape.microBatch * heads.queries * m_shape.sequence);
    if (m_shape.microBatch > 1) {
        qkv[0] = recorder.run({qkv[0]}, QkvCopies, bytes.query); // batch first
        qkv[1] = recorder.run({qkv[1]}, QkvCopies, bytes.key);
        qkv[2] = recorder.run({qkv[2]}, QkvCopies, bytes.value);
    }
    Tensor context = recorder.runKeepingOutput(
        qkv, Context, bytes.context, {qkv[0].storage, qkv[1].storage, qkv[2].storage, statistics},
        [this, bytes](const Storages&) {
            const Storage sum = recorder.allocate(AttentionWorkspace, bytes.query / m_shape.element * 4);
            Storages gradients;
            for (const std::int64_t size : {bytes.query, bytes.key, bytes.value}) {
                gradients.push_back(recorder.allocate(ActivationGradient, size));
            }
            return gradients;
        });
    qkv.clear();
    return m_shape.microBatch > 1 ? recorder.run({context}, ContextCopy, bytes.context) : context;
}

/// Transformer Engine's explicit scores (theory.md 3.2); every key head serves one query head here.
MegatronModules::Tensor MegatronModules::attendScores(const Tensors& qkv, const Heads& heads)
{
    const AttentionBytes bytes = bytesOf(heads);
    const std::int64_t count = m_shape.microBatch * heads.queries * m_shape.sequence * m_shape.sequence;
    Storage empty = recorder.allocate(AttentionScores, count * m_shape.element); // what baddbmm is handed
    Tensor scores
        = recorder.run({qkv[0], qkv[1]}, AttentionScores, count * m_shape.element, {qkv[0].storage, qkv[1].storage});
    empty = {};
    Tensor softmax
        = recorder.runKeepingOutput({scores}, AttentionSoftmax, count * m_shape.element, {}, TapeRecorder::passed());
    scores = {};
    Tensor dropped = softmax;
    if (m_shape.hasAttentionDropout) {
        const Storage mask = recorder.allocate(DropoutMask, count);
        dropped = recorder.run({softmax}, AttentionProbabilities, count * m_shape.element, {mask});
    }
    softmax = {};
    const Tensor context = recorder.run({dropped, qkv[2]}, Context, bytes.context, {dropped.storage, qkv[2].storage});
    dropped = {};
    return recorder.run({context}, Context, bytes.context);
}

} // namespace headroom
