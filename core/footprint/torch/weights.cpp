// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/weights.h"

#include "footprint/torch/shape.h"

#include <algorithm>
#include <utility>

namespace headroom {

std::int64_t TorchWeights::total(Kind kind) const
{
    std::int64_t sum = 0;
    for (const Tensor& tensor : tensors) {
        sum += tensor.kind == kind ? tensor.elements() : 0;
    }
    return sum;
}

namespace {

class BlockWeights
{
public:
    explicit BlockWeights(const TorchShape& shape)
        : m_shape(shape)
        , m_model(shape.model)
    {
    }

    TorchWeights make(LayerKind kind, bool attendsAcross)
    {
        if (kind.mixer == Mixer::Attention) {
            m_model.isMla ? addLatentAttention() : addAttention();
        } else if (kind.mixer != Mixer::None) {
            addMixer(kind.mixer);
        }
        if (attendsAcross) {
            addAttention();
        }
        if (kind.feedForward == FeedForward::Experts) {
            addExperts();
        } else if (kind.feedForward == FeedForward::Mlp) {
            addMlp(denseMlp, m_model.hidden, m_model.ffn / m_shape.tensor);
        }
        const std::int64_t norms = (kind.halves() == 2 ? m_model.blockNorms : 1) + (attendsAcross ? 1 : 0);
        for (std::int64_t i = 0; i < norms * (m_model.layerNorm ? 2 : 1); ++i) {
            addVector(m_model.hidden, i % norms == 0 ? TrainedParts::FirstNorm : TrainedParts::SecondNorm);
        }
        return std::move(m_weights);
    }

private:
    /// What a linear layer is called where adapters are asked for, and where parts are frozen.
    struct Name
    {
        Adapters::Target target = Adapters::Other;
        TrainedParts::Part part{};
    };

    /// `count`: experts, 0 where it is none.
    void add(Name name, std::int64_t in, std::int64_t out, bool hasBias, std::int64_t count = 0)
    {
        using enum TorchWeights::Kind;
        const Adapters::Target target = name.target;
        const std::int64_t many = std::max<std::int64_t>(count, 1);
        m_weights.tensors.push_back(
            {Matrix, out * many, in, count > 0, name.part, count == 0 && name.part != TrainedParts::Router});
        if (hasBias) {
            addVector(out * many, name.part);
        }
        const bool isPacked = m_shape.adaptsPackedQkv && (target == Adapters::Key || target == Adapters::Value);
        if (m_shape.hasAdapter(target) && !isPacked) {
            const bool holdsAll = m_shape.adaptsPackedQkv && target == Adapters::Query;
            const std::int64_t width = holdsAll ? out + 2 * keyWidth() : out;
            m_weights.tensors.push_back({Adapter, m_shape.adapters.rank * many, in, count > 0});
            m_weights.tensors.push_back({Adapter, width * many, m_shape.adapters.rank, count > 0});
        }
    }

    void addVector(std::int64_t elements, TrainedParts::Part part)
    {
        m_weights.tensors.push_back({TorchWeights::Kind::Vector, elements, 1, false, part});
    }

    [[nodiscard]] std::int64_t keyWidth() const
    {
        return std::max<std::int64_t>(m_model.groups / m_shape.tensor, 1) * m_model.headDim;
    }

    void addAttention()
    {
        const std::int64_t query = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1) * m_model.headDim;
        add({Adapters::Query, TrainedParts::Query}, m_model.hidden, m_model.attnGate ? 2 * query : query,
            m_model.qkvBias);
        add({Adapters::Key, TrainedParts::Key}, m_model.hidden, keyWidth(),
            m_model.qkvBias && m_model.audioBins == 0); // none in Whisper
        add({Adapters::Value, TrainedParts::Value}, m_model.hidden, keyWidth(), m_model.qkvBias);
        add({Adapters::Output, TrainedParts::Output}, query, m_model.hidden, m_model.outBias);
        const int norms = m_model.layerNorm ? 4 : 2;
        for (int i = 0; i < (m_model.qkNorm ? norms : 0); ++i) {
            addVector(m_model.headDim, i % 2 == 0 ? TrainedParts::QueryNorm : TrainedParts::KeyNorm);
        }
    }

    void addLatentAttention()
    {
        const std::int64_t heads = std::max<std::int64_t>(m_model.heads / m_shape.tensor, 1);
        const std::int64_t width = heads * (m_model.nopeDim + m_model.ropeDim);
        if (m_model.qLoraRank > 0) {
            add({Adapters::Query, TrainedParts::QueryLatent}, m_model.hidden, m_model.qLoraRank, m_model.qkvBias);
            addVector(m_model.qLoraRank, TrainedParts::QueryNorm);
        }
        add({Adapters::Query, TrainedParts::Query}, m_model.qLoraRank > 0 ? m_model.qLoraRank : m_model.hidden, width,
            false);
        add({Adapters::Key, TrainedParts::Key}, m_model.hidden, m_model.kvLoraRank + m_model.ropeDim, m_model.qkvBias);
        addVector(m_model.kvLoraRank, TrainedParts::KeyNorm);
        add({Adapters::Value, TrainedParts::Value}, m_model.kvLoraRank, heads * (m_model.nopeDim + m_model.valueDim),
            false);
        add({Adapters::Output, TrainedParts::Output}, heads * m_model.valueDim, m_model.hidden, m_model.outBias);
    }

    void addExperts()
    {
        add({Adapters::Other, TrainedParts::Router}, m_model.hidden, m_model.experts, false);
        if (m_model.latent > 0) { // which no setting freezes alone
            constexpr auto whole = static_cast<TrainedParts::Part>(TrainedParts::all);
            add({Adapters::Other, whole}, m_model.hidden, m_model.latent, false);
            add({Adapters::Other, whole}, m_model.latent, m_model.hidden, false);
        }
        addMlp(expertMlp, m_model.routedWidth(), m_model.expertFfn / m_shape.expertTensor,
               m_model.experts / m_shape.expertRanks);
        if (m_model.sharedFfn > 0) {
            addMlp(sharedMlp, m_model.hidden, m_model.sharedFfn / m_shape.tensor);
            if (m_model.sharedGate) {
                add({Adapters::Other, TrainedParts::SharedOpening}, m_model.hidden, 1, false);
            }
        }
    }

    /// In the order of transformers' modules, projections first.
    void addMixer(Mixer kind)
    {
        using enum TrainedParts::Part;
        const LinearMixer& mixer = m_shape.mixer;
        const std::int64_t values = mixer.values();
        const bool isFirst = kind == Mixer::Mamba;
        const std::int64_t convolved = isFirst ? values : mixer.convolved(kind);
        add({Adapters::Other, MixerIn}, m_model.hidden, isFirst ? 2 * values : mixer.projected(kind), false);
        m_weights.tensors.push_back({TorchWeights::Kind::Matrix, convolved, mixer.conv, false, MixerConv});
        if (mixer.hasConvBias) {
            addVector(convolved, MixerConv);
        }
        if (isFirst) {
            add({Adapters::Other, MixerSteps}, values, mixer.timeRank + 2 * mixer.state, false);
            add({Adapters::Other, MixerSteps}, mixer.timeRank, values, true);
            m_weights.tensors.push_back({TorchWeights::Kind::Matrix, values, mixer.state, false, MixerScan}); // A
            addVector(values, MixerScan); // D
            for (const std::int64_t width : {mixer.timeRank, mixer.state, mixer.state}) {
                addVector(width, MixerNorm);
            }
        }
        for (int vector = 0; vector < (isFirst ? 0 : kind == Mixer::Mamba2 ? 3 : 2); ++vector) {
            addVector(mixer.heads, MixerScan);
        }
        if (!isFirst) {
            addVector(kind == Mixer::Mamba2 ? values : mixer.headDim, MixerNorm);
        }
        add({Adapters::Other, MixerOut}, values, m_model.hidden, false);
    }

    void addMlp(const TorchMlpParts& names, std::int64_t outside, std::int64_t width, std::int64_t experts = 0)
    {
        const bool hasBias = m_model.mlpBias && experts == 0;
        for (std::int64_t i = 0; i < m_model.gate; ++i) {
            add({Adapters::MlpIn, i + 1 < m_model.gate ? names.gate : names.up}, outside, width, hasBias, experts);
        }
        add({Adapters::MlpOut, names.down}, width, outside, hasBias, experts);
    }

    const TorchShape& m_shape;
    const Architecture& m_model;
    TorchWeights m_weights;
};

} // namespace

TorchWeights blockWeights(const TorchShape& shape, LayerKind kind, bool attendsAcross)
{
    return BlockWeights(shape).make(kind, attendsAcross);
}

TorchWeights embeddingWeights(const TorchShape& shape)
{
    TorchWeights weights;
    weights.tensors.push_back({TorchWeights::Kind::Table, shape.model.vocab / shape.tableRanks, shape.model.hidden,
                               false, TrainedParts::Table});
    if (shape.model.positions > 0) {
        weights.tensors.push_back(
            {TorchWeights::Kind::Table, shape.model.positions, shape.model.hidden, false, TrainedParts::Table});
    }
    return weights;
}

TorchWeights headWeights(const TorchShape& shape)
{
    TorchWeights weights;
    for (int i = 0; i < (shape.model.layerNorm ? 2 : 1); ++i) {
        weights.tensors.push_back({TorchWeights::Kind::Vector, shape.model.hidden, 1, false, TrainedParts::FinalNorm});
    }
    if (!shape.model.tied) {
        using enum TorchWeights::Kind;
        weights.tensors.push_back(
            {shape.quantisesHead() ? Matrix : Table, shape.outputs(), shape.model.hidden, false, TrainedParts::Head});
    }
    if (shape.model.headBias) {
        weights.tensors.push_back(
            {TorchWeights::Kind::Vector, shape.model.vocab / shape.outputRanks, 1, false, TrainedParts::Head});
    }
    return weights;
}

TorchWeights valueHeadWeights(const TorchShape& shape)
{
    TorchWeights weights;
    weights.tensors.push_back({TorchWeights::Kind::Vector, shape.model.hidden + 1});
    return weights;
}

} // namespace headroom
