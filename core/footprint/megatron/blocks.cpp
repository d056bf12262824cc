// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/blocks.h"

namespace headroom {

using enum TensorKind;

Tape::Slot RecordedBlock::forward(Tape::Slot input)
{
    const Tensor stream = recorder.borrowed(input, m_shape.boundaryBytes());
    const Tensor result = branch(stream);
    m_result = result.id;
    const auto [output, mask] = m_ops.addResidual(Tape::none, m_shape.localTokens());
    m_dropoutMask = mask;
    return output;
}

MegatronModules::Tensor RecordedBlock::addTo(const Tensor& stream)
{
    const Tensor added = branch(stream);
    if (!m_shape.hasHiddenDropout) {
        return recorder.run({stream, added}, ResidualStream, m_shape.boundaryBytes(), {}, TapeRecorder::passed(2));
    }
    const Storage mask = recorder.allocate(DropoutMask, m_shape.localTokens() * m_shape.hidden);
    return recorder.run(
        {stream, added}, ResidualStream, m_shape.boundaryBytes(), {mask}, [this](const Storages& outputs) {
            return Storages{outputs.front(), recorder.allocate(ActivationGradient, m_shape.boundaryBytes())};
        });
}

void RecordedBlock::backward()
{
    Storage gradient;
    if (m_dropoutMask != Tape::none) {
        gradient = recorder.allocate(ActivationGradient, m_shape.boundaryBytes());
        m_ops.writer.free(m_dropoutMask);
    } else {
        gradient = recorder.borrowed(Tape::gradient, m_shape.boundaryBytes()).storage;
    }
    recorder.backward(m_result, std::move(gradient));
    keepStream();
}

MegatronModules::Tensor RecordedBlock::behindNorm(const Tensor& input, const TapeRecorder::Function& following)
{
    const auto normalise = [this](const Tensors& inputs) { return Tensors{norm(inputs.front(), m_shape.hidden)}; };
    if (!m_shape.recomputesNorms) {
        return following(normalise({input})).front();
    }
    TapeRecorder::Discarded normed = recorder.runDiscarding(normalise, {input});
    Tensor result = following(normed.outputs).front();
    recorder.discard(normed, result);
    return result;
}

MegatronModules::Tensor MegatronDenseBlock::branch(const Tensor& input)
{
    const auto run = [this](const Tensors& inputs) {
        const std::int64_t tokens = m_shape.tokens();
        Tensor wide = columnParallel(inputs.front(),
                                     {tokens, m_shape.hidden, m_shape.gates * m_shape.ffn, Fc1Output, true, true,
                                      Adapters::MlpIn, TrainedParts::Gate | TrainedParts::Up});
        const Tensor active = activation(wide, tokens, m_shape.ffn, m_shape.gates == 2 || m_shape.hasMlpBias);
        wide = {};
        return Tensors{rowParallel(
            active,
            {tokens, m_shape.ffn, m_shape.hidden, PartialOutput, false, true, Adapters::MlpOut, TrainedParts::Down})};
    };
    return m_shape.recomputesMlp ? recorder.checkpoint(run, {input}) : run({input}).front();
}

MegatronModules::Tensor MegatronContextAttention::branch(const Tensor& input)
{
    const std::int64_t queries = m_shape.heads * m_shape.headDim, keys = m_shape.groups * m_shape.headDim;
    const bool isGated = m_shape.hybrid.hasAttentionGate;
    Tensor packed = columnParallel(input,
                                   {m_shape.tokens(), m_shape.hidden, (isGated ? 2 : 1) * queries + 2 * keys, Qkv, true,
                                    true, Adapters::Query | Adapters::Key | Adapters::Value,
                                    TrainedParts::Query | TrainedParts::Key | TrainedParts::Value});
    Tensors qkv;
    prepare(packed, qkv);
    const bool isPacked = qkv.empty();
    if (isPacked) {
        qkv.assign(3, packed);
    }
    const std::int64_t gateBytes = m_shape.tokens() * queries * m_shape.element;
    const Tensor gate = isGated ? recorder.run({packed}, ContextCopy, gateBytes, {}, TapeRecorder::passed()) : Tensor{};
    packed = {};
    Tensor context
        = attend(qkv[0], qkv[1], qkv[2], {m_shape.heads, m_shape.groups, m_shape.headDim, m_shape.headDim, isPacked});
    qkv.clear();
    if (isGated) { // transformer/attention.py, _apply_output_gate
        context = recorder.run({context, gate}, ContextCopy, gateBytes, {context.storage, gate.storage});
    }
    return rowParallel(context,
                       {m_shape.tokens(), queries, m_shape.hidden, PartialOutput, false, true, Adapters::Output,
                        TrainedParts::Output});
}

/// q/k norms and rotary positions make new, contiguous q and k; beside them v is copied (theory_moe_cp.md C1).
void MegatronContextAttention::prepare(Tensor& packed, Tensors& qkv)
{
    const std::int64_t each = m_shape.tokens() * m_shape.headDim * m_shape.element;
    const std::int64_t queries = each * m_shape.heads, keys = each * m_shape.groups;
    const bool hasFresh = m_shape.hasQkNorm || m_shape.rotaryDim > 0;
    if (!hasFresh) {
        return;
    }
    const auto pass = TapeRecorder::passed();
    const std::int64_t packedBytes = packed.bytes;
    // The first of the three gradients is as large as the packed tensor; the others are written into it.
    const auto whole
        = [this, packedBytes](const Storages&) { return Storages{recorder.allocate(ActivationGradient, packedBytes)}; };
    Tensor query = packed, key = packed;
    if (m_shape.hasQkNorm) {
        const auto normalise = [&](std::int64_t bytes, const TapeRecorder::Backward& backward) {
            const Storage input = recorder.allocate(QkNormInput, bytes);
            const Storage statistics
                = recorder.allocate(NormStatistics, statisticsBytes() * bytes / (m_shape.headDim * m_shape.element));
            return recorder.run({packed}, QkNormOutput, bytes, {input, statistics}, backward);
        };
        query = normalise(queries, whole);
        key = normalise(keys, pass);
    }
    if (m_shape.rotaryDim > 0) {
        const auto tables = [this] {
            const std::int64_t bytes = 2 * m_shape.element * m_shape.sequence * m_shape.rotaryDim; // cosine and sine
            return m_shape.fusesRope ? Storages{} : Storages{recorder.allocate(RotaryTables, bytes)};
        };
        query
            = recorder.run({query}, RotatedQk, queries, tables(), m_shape.hasQkNorm ? TapeRecorder::Backward{} : whole);
        key = recorder.run({key}, RotatedQk, keys, tables(), pass);
    }
    qkv = {query, key, recorder.run({packed}, ValueCopy, keys, {}, pass)};
}

} // namespace headroom
