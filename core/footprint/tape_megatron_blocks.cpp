// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_blocks.h"

namespace headroom {

using enum TensorKind;

Tape::Slot RecordedBlock::forward(Tape::Slot input)
{
    const Tensor stream = recorder.borrowed(input, c.boundaryBytes());
    const Tensor result = branch(stream);
    m_result = result.id;
    const auto [output, mask] = m_ops.addResidual(Tape::none, c.localTokens());
    m_dropoutMask = mask;
    return output;
}

MegatronModules::Tensor RecordedBlock::addTo(const Tensor& stream)
{
    const Tensor added = branch(stream);
    if (!c.hasHiddenDropout) {
        return recorder.run({stream, added}, ResidualStream, c.boundaryBytes(), {}, TapeRecorder::passed(2));
    }
    const Storage mask = recorder.allocate(DropoutMask, c.localTokens() * c.hidden);
    return recorder.run({stream, added}, ResidualStream, c.boundaryBytes(), {mask}, [this](const Storages& outputs) {
        return Storages{outputs.front(), recorder.allocate(ActivationGradient, c.boundaryBytes())};
    });
}

void RecordedBlock::backward()
{
    Storage gradient;
    if (m_dropoutMask != Tape::none) {
        gradient = recorder.allocate(ActivationGradient, c.boundaryBytes());
        m_ops.w.free(m_dropoutMask);
    } else {
        gradient = recorder.borrowed(Tape::gradient, c.boundaryBytes()).storage;
    }
    recorder.backward(m_result, std::move(gradient));
    keepStream();
}

MegatronModules::Tensor RecordedBlock::behindNorm(const Tensor& input, const TapeRecorder::Function& following)
{
    const auto normalise = [this](const Tensors& inputs) { return Tensors{norm(inputs.front(), c.hidden)}; };
    if (!c.recomputesNorms) {
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
        const std::int64_t tokens = c.tokens();
        Tensor wide = columnParallel(inputs.front(), {tokens, c.hidden, c.gates * c.ffn, Fc1Output, true});
        const Tensor active = activation(wide, tokens, c.ffn, c.gates == 2 || c.hasMlpBias);
        wide = {};
        return Tensors{rowParallel(active, {tokens, c.ffn, c.hidden, PartialOutput})};
    };
    return c.recomputesMlp ? recorder.checkpoint(run, {input}) : run({input}).front();
}

MegatronModules::Tensor MegatronContextAttention::branch(const Tensor& input)
{
    const std::int64_t queries = c.heads * c.headDim, keys = c.groups * c.headDim;
    Tensor packed = columnParallel(input, {c.tokens(), c.hidden, queries + 2 * keys, Qkv, true});
    Tensors qkv;
    prepare(packed, qkv);
    const bool isPacked = qkv.empty();
    if (isPacked) {
        qkv.assign(3, packed);
    }
    packed = {};
    const Tensor context = attend(qkv[0], qkv[1], qkv[2], {c.heads, c.groups, c.headDim, c.headDim, isPacked});
    qkv.clear();
    return rowParallel(context, {c.tokens(), queries, c.hidden, PartialOutput});
}

/// q/k norms and rotary positions make new, contiguous q and k; beside them v is copied (theory_moe_cp.md C1).
void MegatronContextAttention::prepare(Tensor& packed, Tensors& qkv)
{
    const std::int64_t each = c.tokens() * c.headDim * c.element;
    const std::int64_t queries = each * c.heads, keys = each * c.groups;
    const bool hasFresh = c.hasQkNorm || c.rotaryDim > 0;
    if (!hasFresh) {
        return;
    }
    const auto pass = TapeRecorder::passed();
    const std::int64_t packedBytes = packed.bytes;
    // The first of the three gradients is as large as the packed tensor; the others are written into it.
    const auto whole
        = [this, packedBytes](const Storages&) { return Storages{recorder.allocate(ActivationGradient, packedBytes)}; };
    Tensor query = packed, key = packed;
    if (c.hasQkNorm) {
        const auto normalise = [&](std::int64_t bytes, const TapeRecorder::Backward& backward) {
            const Storage input = recorder.allocate(QkNormInput, bytes);
            const Storage statistics
                = recorder.allocate(NormStatistics, statisticsBytes() * bytes / (c.headDim * c.element));
            return recorder.run({packed}, QkNormOutput, bytes, {input, statistics}, backward);
        };
        query = normalise(queries, whole);
        key = normalise(keys, pass);
    }
    if (c.rotaryDim > 0) {
        const auto tables = [this] {
            const std::int64_t bytes = 2 * c.element * c.sequence * c.rotaryDim; // cosine and sine
            return c.fusesRope ? Storages{} : Storages{recorder.allocate(RotaryTables, bytes)};
        };
        query = recorder.run({query}, RotatedQk, queries, tables(), c.hasQkNorm ? TapeRecorder::Backward{} : whole);
        key = recorder.run({key}, RotatedQk, keys, tables(), pass);
    }
    qkv = {query, key, recorder.run({packed}, ValueCopy, keys, {}, pass)};
}

} // namespace headroom
