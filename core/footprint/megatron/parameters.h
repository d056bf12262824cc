// SPDX-License-Identifier: GPL-3.0-or-later
// Parameter tensors of Megatron's modules on one rank, in the order in which they are constructed.
#pragma once

#include "footprint/tape/program.h"

namespace headroom {

void addMatrix(Piece& piece, std::int64_t rows, std::int64_t columns);
/// `parts`: what of the shape's trained parts the weight is; without any it is frozen beside the others.
void addMatrix(Piece& piece, const RankShape& c, std::uint32_t parts, std::int64_t rows, std::int64_t columns);
void addTensor(Piece& piece, const RankShape& c, std::uint32_t parts, std::int64_t elements);
void addNorm(Piece& piece, const RankShape& c, std::int64_t width, std::uint32_t parts = TrainedParts::all);
void addAttention(Piece& piece, const RankShape& c, bool isCross);
void addLatentAttention(Piece& piece, const RankShape& c);
void addMlp(Piece& piece, const RankShape& c);
/// Router, latent projections, shared experts, and the routed experts of this rank.
void addExperts(Piece& piece, const RankShape& c);
/// One decoder layer: attention of any kind, experts or a dense MLP.
void addDecoderLayer(Piece& piece, const RankShape& shape, bool hasExperts);
/// A layer of a hybrid.
void addHybridLayer(Piece& piece, const RankShape& c, LayerKind kind);
/// What is there so far is frozen; the adapters beside it are trained (mcore-bridge 1.6, tuners/lora.py): the half at
/// the split width of a linear layer is split with it, the other one whole on every rank. Expert ones are an expert's.
/// A hybrid's other mixers have none.
void takeAdapters(Piece& piece, const RankShape& c, LayerKind kind);
void addHead(Piece& piece, const RankShape& c, bool hasOwnWeight);

} // namespace headroom
