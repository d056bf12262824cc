// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's head with multi-token prediction (transformer/multi_token_prediction.py, models/gpt/gpt_model.py;
// theory_moe_cp.md section 6).
#include "footprint/tape_megatron.h"
#include "footprint/tape_megatron_blocks.h"
#include "footprint/tape_megatron_parameters.h"

#include <memory>

namespace headroom {

using enum TensorKind;

namespace {

/// Final norm, prediction layers, and an output layer with a loss for the model and every prediction.
class PredictingHead : private MegatronModules
{
public:
    explicit PredictingHead(MegatronOps& ops)
        : MegatronModules(ops)
        , m_dense(ops, recorder)
        , m_experts(ops, recorder)
        , m_latent(ops, recorder)
        , m_attention(ops, recorder)
    {
    }

    void forward();
    void backward();
    void writeWeights();

private:
    Tensor embedding();
    Tensor predict(const Tensor& states);
    Tensor layer(const Tensor& stream);
    Tensor loss(const Tensor& states, Tensor& logits);
    Storage softmaxOf(const Tensor& logits);

    MegatronDenseBlock m_dense;
    MegatronExperts m_experts;
    MegatronLatentAttention m_latent;
    MegatronContextAttention m_attention;
    int m_loss = -1;
};

void PredictingHead::forward()
{
    Tensors states{norm(recorder.borrowed(Tape::input, c.boundaryBytes()), c.hidden)};
    for (std::int64_t depth = 0; depth < c.predictors; ++depth) {
        states.push_back(predict(states.back()));
    }
    const auto count = states.size();
    Tensor all = recorder.run(states, HeadStates, c.boundaryBytes() * static_cast<std::int64_t>(count), {},
                              TapeRecorder::passed(count));
    Tensors parts = recorder.split(all, count);
    states.clear();
    all = {};
    Tensor logits; // of the last prediction until its function returns
    Tensors losses;
    for (std::size_t i = 1; i < count; ++i) {
        losses.push_back(loss(parts[i], logits));
    }
    logits = {};
    losses.insert(losses.begin(), loss(parts[0], logits));
    m_loss = recorder.run(losses, LossTerms, c.tokens() * 4, {}, TapeRecorder::passed(count)).id;
}

void PredictingHead::backward()
{
    recorder.backward(m_loss, recorder.borrowed(Tape::none, 0).storage);
}

void PredictingHead::writeWeights()
{
    // Those of the prediction layers come after the heads', which the backward meets first.
    MegatronModules::writeDelayedGradients();
    m_experts.writeDelayedGradients();
    m_dense.writeDelayedGradients();
    m_latent.writeDelayedGradients();
    m_attention.writeDelayedGradients();
}

/// The words one place further on, as the embedding of the model looks them up.
MegatronModules::Tensor PredictingHead::embedding()
{
    const std::int64_t full = m_ops.streamBytes(c.tokens());
    const Tensor words = recorder.run({}, EmbeddingTemporary, full, {}, [this](const Storages&) {
        if (!c.isFrozen) {
            const Storage weight = recorder.allocate(WeightGradient, c.vocab * c.hidden * c.element); // never fused
        }
        return Storages{};
    });
    Tensor stream = recorder.run({words}, EmbeddingTemporary, full); // [b, s, h] to [s, b, h]
    if (c.sequenceShards > 1) {
        stream = recorder.run({stream}, EmbeddingTemporary, c.boundaryBytes());
    }
    if (c.hasHiddenDropout) {
        const Storage mask = recorder.allocate(DropoutMask, c.localTokens() * c.hidden);
        stream = recorder.run({stream}, EmbeddingTemporary, c.boundaryBytes(), {mask});
    }
    return stream;
}

MegatronModules::Tensor PredictingHead::predict(const Tensor& states)
{
    Tensor words = norm(embedding(), c.hidden);
    Tensor before = norm(states, c.hidden);
    Tensor both = recorder.run({words, before}, NormOutput, 2 * c.boundaryBytes());
    words = before = {};
    Tensor stream = columnParallel(both, {c.tokens(), 2 * c.hidden, c.hidden / c.tensor, PartialOutput});
    both = {};
    if (c.tensor > 1) {
        stream = recorder.run({stream}, PartialOutput, m_ops.streamBytes(c.tokens()));
    }
    if (c.sequenceShards > 1) {
        stream = recorder.run({stream}, ResidualStream, c.boundaryBytes());
    }
    const auto run = [this](const Tensors& inputs) { return Tensors{layer(inputs.front())}; };
    stream = c.checkpointGroup > 0 ? recorder.checkpoint(run, {stream}) : layer(stream);
    return norm(stream, c.hidden);
}

MegatronModules::Tensor PredictingHead::layer(const Tensor& stream)
{
    const Tensor attended = c.latentAttention.isPresent() ? m_latent.addTo(stream) : m_attention.addTo(stream);
    return c.experts.hasLayer(c.layers - 1) ? m_experts.addTo(attended) : m_dense.addTo(attended);
}

/// An output layer and its loss; `logits` is a variable of the caller's.
MegatronModules::Tensor PredictingHead::loss(const Tensor& states, Tensor& logits)
{
    const std::int64_t full = m_ops.streamBytes(c.tokens());
    const auto growBuffer = [this, full] {
        if (c.sequenceShards > 1) {
            m_ops.growGlobalBuffer(full);
        }
    };
    growBuffer();
    m_ops.cublas();
    const Storage kept = c.isFrozen ? Storage{} : states.storage;
    logits = recorder.run(
        {states}, Logits, c.tokens() * c.vocab * c.element, {kept}, [this, kept, full](const Storages& outputs) {
            m_ops.cublas();
            if (m_ops.delays()) {
                delay(kept, outputs.front(), {c.tokens(), c.hidden, c.vocab}, c.sequenceShards > 1 ? full : 0);
            }
            Storage gradient = recorder.allocate(ActivationGradient, full);
            const Storage weight = c.isFrozen ? Storage{} : weightGradient(c.vocab, c.hidden);
            if (c.sequenceShards > 1) {
                gradient = recorder.allocate(ActivationGradient, c.boundaryBytes());
            }
            return Storages{gradient};
        });
    Storages saved{softmaxOf(logits)};
    for (int i = 0; i < 2; ++i) {
        saved.push_back(recorder.allocate(LossTerms, c.tokens() * 8));
    }
    const bool isInPlace = c.element == 4 || c.fusedLoss == FusedLoss::InPlace;
    const Storage gradient = isInPlace ? saved.front() : Storage{};
    return recorder.run({logits}, LossTerms, c.tokens() * 8, std::move(saved), [this, gradient](const Storages&) {
        return Storages{gradient ? gradient : recorder.allocate(LogitsGradient, c.tokens() * c.vocab * c.element)};
    });
}

MegatronModules::Storage PredictingHead::softmaxOf(const Tensor& logits)
{
    const std::int64_t bytes = c.tokens() * c.vocab * 4;
    Storage softmax = logits.storage;
    if (c.element < 4 && c.fusedLoss != FusedLoss::InPlace) {
        softmax = recorder.allocate(LogitsSoftmax, bytes);
    }
    if (c.fusedLoss == FusedLoss::Native) {
        softmax = recorder.allocate(LogitsSoftmax, bytes);
    }
    return softmax;
}

} // namespace

void MegatronTapes::writePredictingHead(Piece& piece, bool hasOwnWeight, bool hasOwnWords) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    PredictingHead head(ops);
    head.forward();
    ops.w.beginBackward(Tape::none);
    head.backward();
    ops.w.allocateInto(Tape::gradient, ActivationGradient, c.boundaryBytes());
    ops.w.free(Tape::input);
    if (ops.delays()) {
        ops.w.beginWeights();
        head.writeWeights();
    }

    piece.parameters.clear();
    piece.expertParameters.clear();
    for (std::int64_t depth = 0; depth < c.predictors; ++depth) {
        for (int norm = 0; norm < 3; ++norm) {
            addNorm(piece, c, c.hidden);
        }
        addMatrix(piece, c.hidden / c.tensor, 2 * c.hidden);
        addDecoderLayer(piece, c, c.experts.hasLayer(c.layers - 1));
    }
    addHead(piece, c, hasOwnWeight);
    if (hasOwnWords) {
        piece.parameters.push_back(c.vocab * c.hidden);
        if (c.hasLearnedPositions) {
            piece.parameters.push_back(c.positions * c.hidden);
        }
    }
}

} // namespace headroom
