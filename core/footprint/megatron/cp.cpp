// SPDX-License-Identifier: GPL-3.0-or-later
// Attention whose sequence is spread over a context-parallel group (Transformer Engine,
// attention/dot_product_attention/context_parallel.py; theory.md 3.4).
#include "footprint/megatron/modules.h"

namespace headroom {

using enum TensorKind;

MegatronModules::Tensor MegatronModules::attendSplit(const Tensor& query, const Tensor& key, const Tensor& value,
                                                     const Heads& heads)
{
    const bool isFlash = m_shape.kernel == AttentionKernel::Flash;
    const ContextShape& context = m_shape.contextShape;
    const Storage statistics = recorder.allocate(SoftmaxStatistics, 4 * m_shape.tokens() * heads.queries);
    Tensors qkv = contextInputs(query, key, value, heads);
    Tensor result = context.ring > 1                  ? ring(qkv, heads, statistics)
        : context.exchange == ContextExchange::Gather ? gathered(qkv, heads, statistics)
                                                      : exchanged(qkv, heads, statistics);
    qkv.clear();
    if (isFlash && m_shape.microBatch > 1) {
        result = recorder.run({result}, ContextCopy, result.bytes); // sequence first again
    }
    return result;
}

/// Flash wants batch-first copies, cuDNN unpacked ones; an exchange of heads makes new tensors in any case.
MegatronModules::Tensors MegatronModules::contextInputs(const Tensor& query, const Tensor& key, const Tensor& value,
                                                        const Heads& heads)
{
    const AttentionBytes bytes = bytesOf(heads);
    const bool isFlash = m_shape.kernel == AttentionKernel::Flash;
    Tensors qkv{query, key, value};
    const auto copyAll = [&](const TapeRecorder::Backward& ofKeyAndValue) {
        qkv[0] = recorder.run({qkv[0]}, ContextQkv, bytes.query);
        qkv[1] = recorder.run({qkv[1]}, ContextQkv, bytes.key, {}, ofKeyAndValue);
        qkv[2] = recorder.run({qkv[2]}, ContextQkv, bytes.value, {}, ofKeyAndValue);
    };
    if ((isFlash && m_shape.microBatch > 1) || (heads.isPacked && !isFlash)) {
        // The gradients of packed views are parts of one.
        copyAll(heads.isPacked ? TapeRecorder::passed() : TapeRecorder::Backward{});
    }
    const ContextExchange exchange = m_shape.contextShape.exchange;
    if (exchange == ContextExchange::Heads || exchange == ContextExchange::HeadsThenRing) {
        copyAll({});
    }
    return qkv;
}

/// AttnFuncWithCPAndKVP2P: keys and values travel as one tensor, a fresh buffer a step; the last one is kept. The
/// result is cast from an fp32 sum twice, once for the backward and once to be returned.
MegatronModules::Tensor MegatronModules::ring(const Tensors& qkv, const Heads& heads, Storage statistics)
{
    const AttentionBytes bytes = bytesOf(heads);
    const std::int64_t pair = bytes.key + bytes.value;
    Storages buffers, parts;
    for (std::int64_t i = 0; i < m_shape.contextShape.ring; ++i) {
        buffers.push_back(recorder.allocate(RingBuffers, pair));
    }
    for (std::int64_t i = 0; i < m_shape.contextShape.ring; ++i) {
        parts.push_back(recorder.allocate(PartialContexts, bytes.context));
    }
    const Storage sum = recorder.allocate(PartialContexts, bytes.context / m_shape.element * 4);
    const Storage kept = recorder.allocate(Context, bytes.context);
    parts.clear();
    return recorder.run(qkv, ContextCopy, bytes.context, {qkv[0].storage, buffers.back(), kept, statistics},
                        [this, bytes, pair](const Storages&) {
                            const Storage query = recorder.allocate(ActivationGradient, bytes.query);
                            Storages temporaries;
                            for (int i = 0; i < 2; ++i) { // key and value with their gradients, to send and to receive
                                temporaries.push_back(recorder.allocate(RingBuffers, 2 * pair));
                            }
                            for (const std::int64_t size : {bytes.query, pair, bytes.query / m_shape.element * 4}) {
                                temporaries.push_back(recorder.allocate(ActivationGradient, size));
                            }
                            const Storage key = recorder.allocate(ActivationGradient, bytes.key);
                            const Storage value = recorder.allocate(ActivationGradient, bytes.value);
                            return Storages{query, key, value};
                        });
}

/// AttnFuncWithCPAndKVAllGather: keys and values of the whole group, gathered and then put in order; the two halves of
/// this rank's queries are worked on one after the other, and their results are what is kept.
MegatronModules::Tensor MegatronModules::gathered(const Tensors& qkv, const Heads& heads, Storage statistics)
{
    const AttentionBytes bytes = bytesOf(heads);
    const std::int64_t key = bytes.key * m_shape.context, value = bytes.value * m_shape.context;
    const auto gather = [this, key, value] {
        Storages all{recorder.allocate(GatheredInput, key), recorder.allocate(GatheredInput, value)};
        for (Storage& one : all) {
            one = recorder.allocate(GatheredInput, &one == &all.front() ? key : value);
        }
        return all;
    };
    const Storages all = gather();
    const Storage part = recorder.allocate(ContextQkv, bytes.query / 2);
    const Storage kept = recorder.allocate(Context, bytes.context);
    return recorder.run(
        qkv, ContextCopy, bytes.context, {qkv[0].storage, qkv[1].storage, qkv[2].storage, kept, statistics},
        [this, bytes, key, value, gather](const Storages&) {
            const Storage query = recorder.allocate(ActivationGradient, bytes.query);
            Storages temporaries{recorder.allocate(ActivationGradient, key),
                                 recorder.allocate(ActivationGradient, value)};
            const Storages again = gather();
            for (const std::int64_t size : {bytes.query / 2, key, value, bytes.query / m_shape.element * 2}) {
                temporaries.push_back(recorder.allocate(ActivationGradient, size));
            }
            const Storage keyPart = recorder.allocate(ActivationGradient, bytes.key);
            const Storage valuePart = recorder.allocate(ActivationGradient, bytes.value);
            return Storages{query, keyPart, valuePart};
        });
}

/// AttnFuncWithCPAndQKVOA2A: whole sequences of fewer heads; the result is kept before it is sent back.
MegatronModules::Tensor MegatronModules::exchanged(const Tensors& qkv, const Heads& heads, Storage statistics)
{
    const AttentionBytes bytes = bytesOf(heads);
    const Storage kept = recorder.allocate(Context, bytes.context);
    return recorder.run(
        qkv, ContextCopy, bytes.context, {qkv[0].storage, qkv[1].storage, qkv[2].storage, kept, statistics},
        [this, bytes](const Storages&) {
            const Storage sum = recorder.allocate(AttentionWorkspace, bytes.query / m_shape.element * 4);
            Storages gradients;
            for (const std::int64_t size : {bytes.query, bytes.key, bytes.value}) {
                gradients.push_back(recorder.allocate(ActivationGradient, size));
            }
            return gradients;
        });
}

} // namespace headroom
