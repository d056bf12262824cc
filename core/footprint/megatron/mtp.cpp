// SPDX-License-Identifier: GPL-3.0-or-later
// Megatron's head with multi-token prediction (transformer/multi_token_prediction.py, models/gpt/gpt_model.py;
// theory_moe_cp.md section 6).
#include "footprint/megatron/mixers.h"
#include "footprint/megatron/parameters.h"
#include "footprint/megatron/tapes.h"

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
        , m_stateSpace(ops, recorder)
        , m_deltaNet(ops, recorder)
    {
    }

    void forward();
    void backward();
    void writeWeights();

private:
    Tensor embedding();
    Tensor predict(const Tensor& states);
    Tensor layer(const Tensor& stream);
    Tensor hybridLayers(Tensor stream);
    Tensor loss(const Tensor& states, Tensor& logits);
    Storage softmaxOf(const Tensor& logits);

    MegatronDenseBlock m_dense;
    MegatronExperts m_experts;
    MegatronLatentAttention m_latent;
    MegatronContextAttention m_attention;
    MegatronStateSpace m_stateSpace;
    MegatronDeltaNet m_deltaNet;
    int m_loss = -1;
};

void PredictingHead::forward()
{
    Tensors states{norm(recorder.borrowed(Tape::input, m_shape.boundaryBytes()), m_shape.hidden)};
    for (std::int64_t depth = 0; depth < m_shape.predictors; ++depth) {
        states.push_back(predict(states.back()));
    }
    const auto count = states.size();
    Tensor all = recorder.run(states, HeadStates, m_shape.boundaryBytes() * static_cast<std::int64_t>(count), {},
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
    m_loss = recorder.run(losses, LossTerms, m_shape.tokens() * 4, {}, TapeRecorder::passed(count)).id;
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
    m_stateSpace.writeDelayedGradients();
    m_deltaNet.writeDelayedGradients();
}

/// The words one place further on, as the embedding of the model looks them up.
MegatronModules::Tensor PredictingHead::embedding()
{
    const std::int64_t full = m_ops.streamBytes(m_shape.tokens());
    const Tensor words = recorder.run({}, EmbeddingTemporary, full, {}, [this](const Storages&) {
        if (m_shape.trains(TrainedParts::Table)) {
            const Storage weight
                = recorder.allocate(WeightGradient, m_shape.vocab * m_shape.hidden * m_shape.element); // never fused
        }
        return Storages{};
    });
    Tensor stream = recorder.run({words}, EmbeddingTemporary, full); // [b, s, h] to [s, b, h]
    if (m_shape.sequenceShards > 1) {
        stream = recorder.run({stream}, EmbeddingTemporary, m_shape.boundaryBytes());
    }
    if (m_shape.hasHiddenDropout) {
        const Storage mask = recorder.allocate(DropoutMask, m_shape.localTokens() * m_shape.hidden);
        stream = recorder.run({stream}, EmbeddingTemporary, m_shape.boundaryBytes(), {mask});
    }
    return stream;
}

MegatronModules::Tensor PredictingHead::predict(const Tensor& states)
{
    Tensor words = norm(embedding(), m_shape.hidden);
    Tensor before = norm(states, m_shape.hidden);
    Tensor both = recorder.run({words, before}, NormOutput, 2 * m_shape.boundaryBytes());
    words = before = {};
    Tensor stream = columnParallel(both,
                                   {m_shape.tokens(), 2 * m_shape.hidden, m_shape.hidden / m_shape.tensor,
                                    PartialOutput, false, true, 0, TrainedParts::Joining});
    both = {};
    if (m_shape.tensor > 1) {
        stream = recorder.run({stream}, PartialOutput, m_ops.streamBytes(m_shape.tokens()));
    }
    if (m_shape.sequenceShards > 1) {
        stream = recorder.run({stream}, ResidualStream, m_shape.boundaryBytes());
    }
    const auto run = [this](const Tensors& inputs) { return Tensors{layer(inputs.front())}; };
    stream = m_shape.checkpointGroup > 0 ? recorder.checkpoint(run, {stream}) : layer(stream);
    return norm(stream, m_shape.hidden);
}

MegatronModules::Tensor PredictingHead::hybridLayers(Tensor stream)
{
    for (const LayerKind kind : m_shape.hybrid.predictor) {
        stream = kind.mixer == Mixer::Attention ? m_attention.addTo(stream)
            : kind.mixer == Mixer::Mamba2       ? m_stateSpace.addTo(stream)
            : kind.mixer == Mixer::DeltaNet     ? m_deltaNet.addTo(stream)
                                                : stream;
        stream = kind.feedForward == FeedForward::Experts ? m_experts.addTo(stream)
            : kind.feedForward == FeedForward::Mlp        ? m_dense.addTo(stream)
                                                          : stream;
    }
    return stream;
}

MegatronModules::Tensor PredictingHead::layer(const Tensor& stream)
{
    if (!m_shape.hybrid.predictor.empty()) {
        return hybridLayers(stream);
    }
    const Tensor attended = m_shape.latentAttention.isPresent() ? m_latent.addTo(stream) : m_attention.addTo(stream);
    return m_shape.experts.hasLayer(m_shape.layers - 1) ? m_experts.addTo(attended) : m_dense.addTo(attended);
}

/// An output layer and its loss; `logits` is a variable of the caller's.
MegatronModules::Tensor PredictingHead::loss(const Tensor& states, Tensor& logits)
{
    const std::int64_t full = m_ops.streamBytes(m_shape.tokens());
    const auto growBuffer = [this, full] {
        if (m_shape.sequenceShards > 1) {
            m_ops.growGlobalBuffer(full);
        }
    };
    growBuffer();
    m_ops.cublas();
    const Storage kept = m_shape.trains(TrainedParts::Head) ? states.storage : Storage{};
    logits = recorder.run({states}, Logits, m_shape.tokens() * m_shape.vocab * m_shape.element, {kept},
                          [this, kept, full](const Storages& outputs) {
                              m_ops.cublas();
                              if (m_ops.delays(TrainedParts::Head)) {
                                  delay(kept, outputs.front(), {m_shape.tokens(), m_shape.hidden, m_shape.vocab},
                                        m_shape.sequenceShards > 1 ? full : 0);
                              }
                              Storage gradient = recorder.allocate(ActivationGradient, full);
                              const Storage weight = weightGradient(m_shape.vocab, m_shape.hidden, TrainedParts::Head);
                              if (m_shape.sequenceShards > 1) {
                                  gradient = recorder.allocate(ActivationGradient, m_shape.boundaryBytes());
                              }
                              return Storages{gradient};
                          });
    Storages saved{softmaxOf(logits)};
    for (int i = 0; i < 2; ++i) {
        saved.push_back(recorder.allocate(LossTerms, m_shape.tokens() * 8));
    }
    const bool isInPlace = m_shape.element == 4 || m_shape.fusedLoss == FusedLoss::InPlace;
    const Storage gradient = isInPlace ? saved.front() : Storage{};
    return recorder.run({logits}, LossTerms, m_shape.tokens() * 8, std::move(saved), [this, gradient](const Storages&) {
        return Storages{gradient
                            ? gradient
                            : recorder.allocate(LogitsGradient, m_shape.tokens() * m_shape.vocab * m_shape.element)};
    });
}

MegatronModules::Storage PredictingHead::softmaxOf(const Tensor& logits)
{
    const std::int64_t bytes = m_shape.tokens() * m_shape.vocab * 4;
    Storage softmax = logits.storage;
    if (m_shape.element < 4 && m_shape.fusedLoss != FusedLoss::InPlace) {
        softmax = recorder.allocate(LogitsSoftmax, bytes);
    }
    if (m_shape.fusedLoss == FusedLoss::Native) {
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
    ops.writer.beginBackward(Tape::none);
    head.backward();
    ops.writer.allocateInto(Tape::gradient, ActivationGradient, c.boundaryBytes());
    ops.writer.free(Tape::input);
    if (ops.delays()) {
        ops.writer.beginWeights();
        head.writeWeights();
    }

    piece.parameters.clear();
    piece.expertParameters.clear();
    const std::int64_t depths = c.hybrid.repeatsPredictor ? 1 : c.predictors;
    for (std::int64_t depth = 0; depth < depths; ++depth) {
        for (int norm = 0; norm < 3; ++norm) {
            addNorm(piece, c, c.hidden, TrainedParts::Joining);
        }
        addMatrix(piece, c, TrainedParts::Joining, c.hidden / c.tensor, 2 * c.hidden);
        for (const headroom::LayerKind kind : c.hybrid.predictor) {
            addHybridLayer(piece, c, kind);
        }
        if (c.hybrid.predictor.empty()) {
            addDecoderLayer(piece, c, c.experts.hasLayer(c.layers - 1));
        }
    }
    addHead(piece, c, hasOwnWeight);
    if (hasOwnWords) {
        addTensor(piece, c, TrainedParts::Table, c.vocab * c.hidden);
        if (c.hasLearnedPositions) {
            addTensor(piece, c, TrainedParts::Table, c.positions * c.hidden);
        }
    }
}

} // namespace headroom
