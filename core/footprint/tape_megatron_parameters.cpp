// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_megatron_parameters.h"

namespace headroom {

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
    const std::int64_t queryRows = isCross ? width : (c.heads + 2 * c.groups) * c.headDim;
    piece.parameters.push_back(width * c.hidden);
    if (c.hasAttentionOutputBias) {
        piece.parameters.push_back(c.hidden);
    }
    piece.parameters.push_back(queryRows * c.hidden);
    if (c.hasQkvBias) {
        piece.parameters.push_back(queryRows);
    }
    if (isCross) {
        piece.parameters.push_back(2 * width * c.hidden);
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
    auto& parameters = piece.parameters;
    parameters.push_back(c.heads * latent.value * c.hidden);
    if (c.hasAttentionOutputBias) {
        parameters.push_back(c.hidden);
    }
    if (latent.query > 0) {
        parameters.push_back(latent.query * c.hidden);
    }
    parameters.push_back(queryWidth * (latent.query > 0 ? latent.query : c.hidden));
    parameters.push_back((latent.keyValue + latent.rotary) * c.hidden);
    parameters.push_back(c.heads * (latent.plain + latent.value) * latent.keyValue);
    if (latent.hasNorms) {
        if (latent.query > 0) {
            addNorm(piece, c, latent.query);
        }
        addNorm(piece, c, latent.keyValue);
    }
}

void addMlp(Piece& piece, const RankShape& c)
{
    piece.parameters.push_back(c.gates * c.ffn * c.hidden);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.gates * c.ffn);
    }
    piece.parameters.push_back(c.ffn * c.hidden);
    if (c.hasMlpBias) {
        piece.parameters.push_back(c.hidden);
    }
}

void addExperts(Piece& piece, const RankShape& c)
{
    const ExpertShape& experts = c.experts;
    const std::int64_t width = experts.latent > 0 ? experts.latent : c.hidden;
    auto& dense = piece.parameters;
    dense.push_back(c.hidden * experts.count);
    if (experts.latent > 0) {
        dense.insert(dense.end(), {experts.latent * c.hidden, c.hidden * experts.latent});
    }
    if (experts.sharedFfn > 0) {
        dense.insert(dense.end(), {c.gates * experts.sharedFfn * c.hidden, c.hidden * experts.sharedFfn});
    }
    auto& routed = experts.hasOwnBuffers ? piece.expertParameters : piece.parameters;
    for (std::int64_t i = 0; i < experts.local; ++i) {
        routed.push_back(c.gates * experts.ffn * width);
        if (c.hasMlpBias) {
            routed.push_back(c.gates * experts.ffn);
        }
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

void addHead(Piece& piece, const RankShape& c, bool hasOwnWeight)
{
    addNorm(piece, c, c.hidden);
    if (c.family == ModelFamily::Bert) {
        piece.parameters.insert(piece.parameters.end(), {c.hidden * c.hidden, c.hidden});
        addNorm(piece, c, c.hidden);
    }
    if (hasOwnWeight) {
        piece.parameters.push_back(c.vocab * c.hidden);
    }
    if (c.family != ModelFamily::Decoder) {
        piece.parameters.push_back(c.vocab);
    }
    if (c.family == ModelFamily::Bert && c.hasBinaryHead) {
        piece.parameters.insert(piece.parameters.end(), {2 * c.hidden, 2, c.hidden * c.hidden, c.hidden});
    }
}

} // namespace headroom
