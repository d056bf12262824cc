// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/megatron/parameters.h"

namespace headroom {

void addMatrix(Piece& piece, std::int64_t rows, std::int64_t columns)
{
    piece.matrices.push_back({piece.parameters.size(), rows, columns});
    piece.parameters.push_back(rows * columns);
}

void addNorm(Piece& piece, const RankShape& c, std::int64_t width)
{
    piece.parameters.push_back(width);
    if (!c.isRms) {
        piece.parameters.push_back(width);
    }
}

/// In the order in which the modules register them: output projection before the projections (theory_dense.md rule 9).
void addAttention(Piece& piece, const RankShape& c, bool isCross)
{
    const std::int64_t width = c.heads * c.headDim;
    const std::int64_t gate = c.hybrid.hasAttentionGate && !isCross ? width : 0;
    const std::int64_t queryRows = isCross ? width : gate + (c.heads + 2 * c.groups) * c.headDim;
    addMatrix(piece, c.hidden, width);
    if (c.hasAttentionOutputBias) {
        piece.parameters.push_back(c.hidden);
    }
    addMatrix(piece, queryRows, c.hidden);
    if (c.hasQkvBias) {
        piece.parameters.push_back(queryRows);
    }
    if (isCross) {
        addMatrix(piece, 2 * width, c.hidden);
        if (c.hasQkvBias) {
            piece.parameters.push_back(2 * width);
        }
    }
    if (c.hasQkNorm) {
        addNorm(piece, c, c.headDim);
        addNorm(piece, c, c.headDim);
    }
}

/// Down projections and latent norms are replicated, up projections split by heads (theory.md 1.2 and 1.7).
void addLatentAttention(Piece& piece, const RankShape& c)
{
    const LatentShape& latent = c.latentAttention;
    const std::int64_t queryWidth = c.heads * (latent.plain + latent.rotary);
    addMatrix(piece, c.hidden, c.heads * latent.value);
    if (c.hasAttentionOutputBias) {
        piece.parameters.push_back(c.hidden);
    }
    if (latent.query > 0) {
        addMatrix(piece, latent.query, c.hidden);
    }
    addMatrix(piece, queryWidth, latent.query > 0 ? latent.query : c.hidden);
    addMatrix(piece, latent.keyValue + latent.rotary, c.hidden);
    addMatrix(piece, c.heads * (latent.plain + latent.value), latent.keyValue);
    if (latent.hasNorms) {
        if (latent.query > 0) {
            addNorm(piece, c, latent.query);
        }
        addNorm(piece, c, latent.keyValue);
    }
}

void addMlp(Piece& piece, const RankShape& c)
{
    addMatrix(piece, c.gates * c.ffn, c.hidden);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.gates * c.ffn);
    }
    addMatrix(piece, c.hidden, c.ffn);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.hidden);
    }
}

void addExperts(Piece& piece, const RankShape& c)
{
    const ExpertShape& experts = c.experts;
    const std::int64_t width = experts.latent > 0 ? experts.latent : c.hidden;
    addMatrix(piece, experts.count, c.hidden);
    if (experts.latent > 0) {
        addMatrix(piece, experts.latent, c.hidden);
        addMatrix(piece, c.hidden, experts.latent);
    }
    if (experts.sharedFfn > 0) {
        addMatrix(piece, c.gates * experts.sharedFfn, c.hidden);
        addMatrix(piece, c.hidden, experts.sharedFfn);
        if (c.hybrid.hasSharedGate) {
            addMatrix(piece, 1, c.hidden);
        }
    }
    auto& routed = experts.hasOwnBuffers ? piece.expertParameters : piece.parameters;
    auto& matrices = experts.hasOwnBuffers ? piece.expertMatrices : piece.matrices;
    for (std::int64_t i = 0; i < experts.local; ++i) {
        matrices.push_back({routed.size(), c.gates * experts.ffn, width});
        routed.push_back(c.gates * experts.ffn * width);
        if (c.hasMlpBias) {
            routed.push_back(c.gates * experts.ffn);
        }
        matrices.push_back({routed.size(), width, experts.ffn});
        routed.push_back(width * experts.ffn);
        if (c.hasMlpBias) {
            routed.push_back(width);
        }
    }
}

void addDecoderLayer(Piece& piece, const RankShape& c, bool hasExperts)
{
    addNorm(piece, c, c.hidden);
    if (c.latentAttention.isPresent()) {
        addLatentAttention(piece, c);
    } else {
        addAttention(piece, c, false);
    }
    addNorm(piece, c, c.hidden);
    if (hasExperts) {
        addExperts(piece, c);
    } else {
        addMlp(piece, c);
    }
}

void takeAdapters(Piece& piece, const RankShape& c, LayerKind kind)
{
    piece.frozenParameters.swap(piece.parameters);
    piece.frozenParameters.insert(piece.frozenParameters.end(), piece.expertParameters.begin(),
                                  piece.expertParameters.end());
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
    addMatrix(piece, mixer.projected(kind), c.hidden);
    piece.parameters.push_back(mixer.convolved(kind) * mixer.conv);
    if (mixer.hasConvBias) {
        piece.parameters.push_back(mixer.convolved(kind));
    }
    for (int vector = 0; vector < (kind == Mixer::Mamba2 ? 3 : 2); ++vector) {
        piece.parameters.push_back(mixer.heads);
    }
    piece.parameters.push_back(kind == Mixer::Mamba2 ? mixer.values() : mixer.headDim);
    addMatrix(piece, c.hidden, mixer.values());
}

void addHybridLayer(Piece& piece, const RankShape& c, LayerKind kind)
{
    if (kind.mixer != Mixer::None) {
        addNorm(piece, c, c.hidden);
        if (kind.mixer == Mixer::Attention) {
            addAttention(piece, c, false);
        } else {
            addLinearMixer(piece, c, kind.mixer);
        }
    }
    if (kind.feedForward != FeedForward::None) {
        addNorm(piece, c, c.hidden);
        if (kind.feedForward == FeedForward::Experts) {
            addExperts(piece, c);
        } else {
            addMlp(piece, c);
        }
    }
}

void addHead(Piece& piece, const RankShape& c, bool hasOwnWeight)
{
    addNorm(piece, c, c.hidden);
    if (c.family == ModelFamily::Bert) {
        addMatrix(piece, c.hidden, c.hidden);
        piece.parameters.push_back(c.hidden);
        addNorm(piece, c, c.hidden);
    }
    if (hasOwnWeight) {
        piece.parameters.push_back(c.vocab * c.hidden);
    }
    if (c.family != ModelFamily::Decoder || c.hasHeadBias) {
        piece.parameters.push_back(c.vocab);
    }
    if (c.family == ModelFamily::Bert && c.hasBinaryHead) {
        addMatrix(piece, 2, c.hidden);
        piece.parameters.push_back(2);
        addMatrix(piece, c.hidden, c.hidden);
        piece.parameters.push_back(c.hidden);
    }
}

} // namespace headroom
