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
    /// The prediction layers alone; returns what they hand on.
    Tape::Slot forwardPredictions();
    void backwardPredictions();
    /// Output layers and losses alone.
    void forwardLosses();
    void writeWeights();

private:
    Tensor embedding();
    Tensor predict(const Tensor& states);
    Tensor layer(const Tensor& stream);
    Tensor hybridLayers(Tensor stream);
    Tensor predictAll(Tensor states);
    void losses(Tensor all);
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
    losses(predictAll(norm(recorder.borrowed(Tape::input, m_shape.boundaryBytes()), m_shape.hidden)));
}

Tape::Slot PredictingHead::forwardPredictions()
{
    const Tensor all = predictAll(recorder.borrowed(Tape::input, m_shape.boundaryBytes()));
    m_loss = all.id;
    return recorder.handOut(all);
}

void PredictingHead::backwardPredictions()
{
    recorder.backward(m_loss, recorder.borrowed(Tape::gradient, m_shape.predictedBytes()).storage);
}

void PredictingHead::forwardLosses()
{
    losses(recorder.borrowed(Tape::input, m_shape.predictedBytes()));
}

/// The model's states and those of every prediction, in one tensor.
MegatronModules::Tensor PredictingHead::predictAll(Tensor states)
{
    Tensors all{std::move(states)};
    for (std::int64_t depth = 0; depth < m_shape.predictors; ++depth) {
        all.push_back(predict(all.back()));
    }
    return recorder.run(all, HeadStates, m_shape.predictedBytes(), {}, TapeRecorder::passed(all.size()));
}

void PredictingHead::losses(Tensor all)
{
    const auto count = static_cast<std::size_t>(1 + m_shape.predictors);
    Tensors parts = recorder.split(all, count);
    all = {};
    Tensor logits; // of the last prediction until its function returns
    Tensors terms;
    for (std::size_t i = 1; i < count; ++i) {
        terms.push_back(loss(parts[i], logits));
    }
    logits = {};
    terms.insert(terms.begin(), loss(parts[0], logits));
    m_loss = recorder.run(terms, LossTerms, m_shape.tokens() * 4, {}, TapeRecorder::passed(count)).id;
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

/// Norms of words and states, the projection of both, the layers and the last norm, of every depth.
void addPredictions(Piece& piece, const RankShape& c)
{
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
}

void addWords(Piece& piece, const RankShape& c)
{
    addTensor(piece, c, TrainedParts::Table, c.vocab * c.hidden);
    if (c.hasLearnedPositions) {
        addTensor(piece, c, TrainedParts::Table, c.positions * c.hidden);
    }
}

/// The decoder's norm, whose result goes to another chunk.
class NormAlone : private MegatronModules
{
public:
    explicit NormAlone(MegatronOps& ops)
        : MegatronModules(ops)
    {
    }

    Tape::Slot forward()
    {
        const Tensor normed = norm(recorder.borrowed(Tape::input, m_shape.boundaryBytes()), m_shape.hidden);
        m_normed = normed.id;
        return recorder.handOut(normed);
    }
    void backward() { recorder.backward(m_normed, recorder.borrowed(Tape::gradient, m_shape.boundaryBytes()).storage); }

private:
    int m_normed = -1;
};

/// In the place of the output's, the input's, of so many bytes.
void handOnGradient(MegatronOps& ops, std::int64_t bytes)
{
    ops.writer.free(Tape::gradient);
    ops.writer.allocateInto(Tape::gradient, ActivationGradient, bytes);
    ops.writer.free(Tape::input);
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
    addPredictions(piece, c);
    addHead(piece, c, hasOwnWeight);
    if (hasOwnWords) {
        addWords(piece, c);
    }
}

/// The norm stands where the decoder's last layer is (transformer/transformer_block.py,
/// has_final_layernorm_in_this_stage).
void MegatronTapes::writeDecoderNorm(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    NormAlone norm(ops);
    ops.writer.beginBackward(norm.forward());
    norm.backward();
    handOnGradient(ops, c.boundaryBytes());
    piece.parameters.clear();
    addNorm(piece, c, c.hidden, TrainedParts::FinalNorm);
}

/// With words of their own: every chunk is a model of its own (models/gpt/gpt_model.py). What flows out is larger than
/// what flows in, so that stages tell each other sizes (pipeline_parallel/p2p_communication.py, mtp_standalone; from
/// memory).
void MegatronTapes::writePredictions(Piece& piece) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    PredictingHead head(ops);
    ops.writer.beginBackward(head.forwardPredictions());
    head.backwardPredictions();
    handOnGradient(ops, c.boundaryBytes());
    piece.parameters.clear();
    piece.expertParameters.clear();
    addPredictions(piece, c);
    addWords(piece, c);
}

void MegatronTapes::writePredictedHead(Piece& piece, bool hasOwnWeight) const
{
    const RankShape& c = m_shape;
    MegatronOps ops(c, piece.tape, m_persistents);
    ops.declareStream(c.sequence);
    PredictingHead head(ops);
    head.forwardLosses();
    ops.writer.beginBackward(Tape::none);
    head.backward();
    ops.writer.allocateInto(Tape::gradient, ActivationGradient, c.predictedBytes());
    ops.writer.free(Tape::input);
    piece.parameters.clear();
    piece.expertParameters.clear();
    if (hasOwnWeight) {
        addTensor(piece, c, TrainedParts::Head, c.vocab * c.hidden);
    }
}

} // namespace headroom
