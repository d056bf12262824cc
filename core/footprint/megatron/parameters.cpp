// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/parameters.h"

namespace headroom {

namespace {

constexpr std::uint32_t projection = TrainedParts::Query | TrainedParts::Key | TrainedParts::Value;
constexpr std::uint32_t firstOfMlp = TrainedParts::Gate | TrainedParts::Up;
constexpr std::uint32_t firstOfShared = TrainedParts::SharedGate | TrainedParts::SharedUp;
constexpr std::uint32_t firstOfExperts = TrainedParts::ExpertGate | TrainedParts::ExpertUp;

} // namespace

void addMatrix(Piece& piece, std::int64_t rows, std::int64_t columns)
{
    piece.matrices.push_back({piece.parameters.size(), rows, columns});
    piece.parameters.push_back(rows * columns);
}

void addMatrix(Piece& piece, const RankShape& c, std::uint32_t parts, std::int64_t rows, std::int64_t columns)
{
    if (c.leavesOut(parts)) {
        piece.frozenMatrices.push_back({piece.frozenParameters.size(), rows, columns});
        piece.frozenParameters.push_back(rows * columns);
    } else {
        addMatrix(piece, rows, columns);
    }
}

void addTensor(Piece& piece, const RankShape& c, std::uint32_t parts, std::int64_t elements)
{
    (c.leavesOut(parts) ? piece.frozenParameters : piece.parameters).push_back(elements);
}

void addNorm(Piece& piece, const RankShape& c, std::int64_t width, std::uint32_t parts)
{
    for (int vector = 0; vector < (c.isRms ? 1 : 2); ++vector) {
        addTensor(piece, c, parts, width);
    }
}

/// In the order in which the modules register them: output projection before the projections (theory_dense.md rule 9).
void addAttention(Piece& piece, const RankShape& c, bool isCross)
{
    const std::int64_t width = c.heads * c.headDim;
    const std::int64_t gate = c.hybrid.hasAttentionGate && !isCross ? width : 0;
    const std::int64_t queryRows = isCross ? width : gate + (c.heads + 2 * c.groups) * c.headDim;
    addMatrix(piece, c, TrainedParts::Output, c.hidden, width);
    if (c.hasAttentionOutputBias) {
        addTensor(piece, c, TrainedParts::Output, c.hidden);
    }
    addMatrix(piece, c, projection, queryRows, c.hidden);
    if (c.hasQkvBias) {
        addTensor(piece, c, projection, queryRows);
    }
    if (isCross) {
        addMatrix(piece, 2 * width, c.hidden);
        if (c.hasQkvBias) {
            piece.parameters.push_back(2 * width);
        }
    }
    if (c.hasQkNorm) {
        addNorm(piece, c, c.headDim, TrainedParts::QueryNorm);
        addNorm(piece, c, c.headDim, TrainedParts::KeyNorm);
    }
}

/// Down projections and latent norms are replicated, up projections split by heads (theory.md 1.2 and 1.7).
void addLatentAttention(Piece& piece, const RankShape& c)
{
    const LatentShape& latent = c.latentAttention;
    const std::int64_t queryWidth = c.heads * (latent.plain + latent.rotary);
    addMatrix(piece, c, TrainedParts::Output, c.hidden, c.heads * latent.value);
    if (c.hasAttentionOutputBias) {
        addTensor(piece, c, TrainedParts::Output, c.hidden);
    }
    if (latent.query > 0) {
        addMatrix(piece, c, TrainedParts::QueryLatent, latent.query, c.hidden);
    }
    addMatrix(piece, c, TrainedParts::Query, queryWidth, latent.query > 0 ? latent.query : c.hidden);
    addMatrix(piece, c, TrainedParts::Key, latent.keyValue + latent.rotary, c.hidden);
    addMatrix(piece, c, TrainedParts::Value, c.heads * (latent.plain + latent.value), latent.keyValue);
    if (latent.hasNorms) {
        if (latent.query > 0) {
            addNorm(piece, c, latent.query, TrainedParts::QueryNorm);
        }
        addNorm(piece, c, latent.keyValue, TrainedParts::KeyNorm);
    }
}

void addMlp(Piece& piece, const RankShape& c)
{
    addMatrix(piece, c, firstOfMlp, c.gates * c.ffn, c.hidden);
    if (c.hasMlpBias) {
        addTensor(piece, c, firstOfMlp, c.gates * c.ffn);
    }
    addMatrix(piece, c, TrainedParts::Down, c.hidden, c.ffn);
    if (c.hasMlpBias) {
        addTensor(piece, c, TrainedParts::Down, c.hidden);
    }
}

/// One linear layer of a routed expert.
static void addExpertLinear(Piece& piece, const RankShape& c, std::uint32_t parts, std::int64_t rows,
                            std::int64_t columns)
{
    const bool isFrozen = c.leavesOut(parts), isApart = c.experts.hasOwnBuffers;
    auto& frozen = isApart ? piece.frozenExpertParameters : piece.frozenParameters;
    auto& tensors = isFrozen ? frozen : isApart ? piece.expertParameters : piece.parameters;
    auto& matrices = isFrozen ? piece.frozenMatrices : isApart ? piece.expertMatrices : piece.matrices;
    matrices.push_back({tensors.size(), rows, columns});
    tensors.push_back(rows * columns);
    if (c.hasMlpBias) {
        tensors.push_back(rows);
    }
}

void addExperts(Piece& piece, const RankShape& c)
{
    const ExpertShape& experts = c.experts;
    const std::int64_t width = experts.latent > 0 ? experts.latent : c.hidden;
    addMatrix(piece, c, TrainedParts::Router, experts.count, c.hidden);
    if (experts.latent > 0) {
        addMatrix(piece, experts.latent, c.hidden);
        addMatrix(piece, c.hidden, experts.latent);
    }
    if (experts.sharedFfn > 0) {
        addMatrix(piece, c, firstOfShared, c.gates * experts.sharedFfn, c.hidden);
        addMatrix(piece, c, TrainedParts::SharedDown, c.hidden, experts.sharedFfn);
        if (c.hybrid.hasSharedGate) {
            addMatrix(piece, c, TrainedParts::SharedOpening, 1, c.hidden);
        }
    }
    for (std::int64_t i = 0; i < experts.local; ++i) {
        addExpertLinear(piece, c, firstOfExperts, c.gates * experts.ffn, width);
        addExpertLinear(piece, c, TrainedParts::ExpertDown, width, experts.ffn);
    }
}

void addDecoderLayer(Piece& piece, const RankShape& c, bool hasExperts)
{
    addNorm(piece, c, c.hidden, TrainedParts::FirstNorm);
    if (c.latentAttention.isPresent()) {
        addLatentAttention(piece, c);
    } else {
        addAttention(piece, c, false);
    }
    addNorm(piece, c, c.hidden, TrainedParts::SecondNorm);
    if (hasExperts) {
        addExperts(piece, c);
    } else {
        addMlp(piece, c);
    }
}

void takeAdapters(Piece& piece, const RankShape& c, LayerKind kind)
{
    piece.frozenParameters.swap(piece.parameters);
    piece.frozenExpertParameters.swap(piece.expertParameters);
    piece.frozenMatrices.swap(piece.matrices);
    piece.frozenMatrices.insert(piece.frozenMatrices.end(), piece.expertMatrices.begin(), piece.expertMatrices.end());
    piece.parameters.clear();
    piece.expertParameters.clear();
    piece.matrices.clear();
    piece.expertMatrices.clear();
    const auto add = [&c](std::vector<std::int64_t>& tensors, unsigned target, std::int64_t in, std::int64_t out) {
        if (c.hasAdapter(target)) {
            tensors.push_back(c.adapters.rank * in);
            tensors.push_back(c.adapters.rank * out);
        }
    };
    using T = Adapters;
    const LatentShape& latent = c.latentAttention;
    if (kind.mixer != Mixer::Attention) {
        // none
    } else if (latent.isPresent()) {
        const std::int64_t queries = c.heads * (latent.plain + latent.rotary);
        add(piece.parameters, T::Output, c.heads * latent.value, c.hidden);
        if (latent.query > 0) {
            add(piece.parameters, T::Query, c.hidden, latent.query);
        }
        add(piece.parameters, T::Query, latent.query > 0 ? latent.query : c.hidden, queries);
        add(piece.parameters, T::Key, c.hidden, latent.keyValue + latent.rotary);
        add(piece.parameters, T::Value, latent.keyValue, c.heads * (latent.plain + latent.value));
    } else {
        add(piece.parameters, T::Output, c.heads * c.headDim, c.hidden);
        const std::int64_t gates = c.hybrid.hasAttentionGate ? c.heads : 0;
        add(piece.parameters, T::Query | T::Key | T::Value, c.hidden, (gates + c.heads + 2 * c.groups) * c.headDim);
    }
    const auto addMlpOf = [&](std::vector<std::int64_t>& tensors, std::int64_t width, std::int64_t ffn) {
        add(tensors, T::MlpIn, width, c.gates * ffn);
        add(tensors, T::MlpOut, ffn, width);
    };
    if (kind.feedForward != FeedForward::Experts) {
        if (kind.feedForward == FeedForward::Mlp) {
            addMlpOf(piece.parameters, c.hidden, c.ffn);
        }
        return;
    }
    const ExpertShape& experts = c.experts;
    if (experts.sharedFfn > 0) {
        addMlpOf(piece.parameters, c.hidden, experts.sharedFfn);
    }
    for (std::int64_t i = 0; i < experts.local; ++i) {
        addMlpOf(experts.hasOwnBuffers ? piece.expertParameters : piece.parameters,
                 experts.latent > 0 ? experts.latent : c.hidden, experts.ffn);
    }
}

/// megatron/core/ssm/mamba_mixer.py and gated_delta_net.py: projection in, convolution, one vector of heads each, the
/// norm behind the scan, projection out.
static void addLinearMixer(Piece& piece, const RankShape& c, Mixer kind)
{
    const LinearMixer& mixer = c.hybrid.mixer;
    addMatrix(piece, c, TrainedParts::MixerIn, mixer.projected(kind), c.hidden);
    addTensor(piece, c, TrainedParts::MixerConv, mixer.convolved(kind) * mixer.conv);
    if (mixer.hasConvBias) {
        addTensor(piece, c, TrainedParts::MixerConv, mixer.convolved(kind));
    }
    for (int vector = 0; vector < (kind == Mixer::Mamba2 ? 3 : 2); ++vector) {
        addTensor(piece, c, TrainedParts::MixerScan, mixer.heads);
    }
    addTensor(piece, c, TrainedParts::MixerNorm, kind == Mixer::Mamba2 ? mixer.values() : mixer.headDim);
    addMatrix(piece, c, TrainedParts::MixerOut, c.hidden, mixer.values());
}

void addHybridLayer(Piece& piece, const RankShape& c, LayerKind kind)
{
    if (kind.mixer != Mixer::None) {
        addNorm(piece, c, c.hidden, TrainedParts::FirstNorm);
        if (kind.mixer == Mixer::Attention) {
            addAttention(piece, c, false);
        } else {
            addLinearMixer(piece, c, kind.mixer);
        }
    }
    if (kind.feedForward != FeedForward::None) {
        addNorm(piece, c, c.hidden, kind.mixer == Mixer::None ? TrainedParts::FirstNorm : TrainedParts::SecondNorm);
        if (kind.feedForward == FeedForward::Experts) {
            addExperts(piece, c);
        } else {
            addMlp(piece, c);
        }
    }
}

void addHead(Piece& piece, const RankShape& c, bool hasOwnWeight)
{
    addNorm(piece, c, c.hidden, TrainedParts::FinalNorm);
    if (c.family == ModelFamily::Bert) {
        addMatrix(piece, c.hidden, c.hidden);
        piece.parameters.push_back(c.hidden);
        addNorm(piece, c, c.hidden);
    }
    if (hasOwnWeight) {
        addTensor(piece, c, TrainedParts::Head, c.vocab * c.hidden);
    }
    if (c.family != ModelFamily::Decoder || c.hasHeadBias) {
        addTensor(piece, c, TrainedParts::Head, c.vocab);
    }
    if (c.family == ModelFamily::Bert && c.hasBinaryHead) {
        addMatrix(piece, 2, c.hidden);
        piece.parameters.push_back(2);
        addMatrix(piece, c.hidden, c.hidden);
        piece.parameters.push_back(c.hidden);
    }
}

} // namespace headroom
