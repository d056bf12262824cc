// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch.h"

#include <algorithm>

namespace headroom {

std::int64_t TorchWeights::total(Kind kind) const
{
    std::int64_t sum = 0;
    for (const Tensor& tensor : tensors) {
        sum += tensor.kind == kind ? tensor.elements() : 0;
    }
    return sum;
}

TorchWeights blockWeights(const TorchShape& shape)
{
    using enum TorchWeights::Kind;
    const Architecture& a = shape.model;
    const std::int64_t t = shape.tensor;
    const std::int64_t query = a.heads * a.headDim / t;
    const std::int64_t keys = std::max<std::int64_t>(a.groups / t, 1) * a.headDim;
    const std::int64_t ffn = a.ffn / t;
    TorchWeights weights;
    const auto linear = [&](Adapters::Target target, std::int64_t in, std::int64_t out, bool hasBias) {
        weights.tensors.push_back({Matrix, out, in});
        if (hasBias) {
            weights.tensors.push_back({Vector, out});
        }
        const bool isPacked = shape.adaptsPackedQkv && (target == Adapters::Key || target == Adapters::Value);
        if (shape.hasAdapter(target) && !isPacked) {
            const bool holdsAll = shape.adaptsPackedQkv && target == Adapters::Query;
            weights.tensors.push_back({Adapter, shape.adapters.rank, in});
            weights.tensors.push_back({Adapter, holdsAll ? query + 2 * keys : out, shape.adapters.rank});
        }
    };
    linear(Adapters::Query, a.hidden, query, a.qkvBias);
    linear(Adapters::Key, a.hidden, keys, a.qkvBias);
    linear(Adapters::Value, a.hidden, keys, a.qkvBias);
    linear(Adapters::Output, query, a.hidden, a.outBias);
    for (std::int64_t i = 0; i < a.gate; ++i) {
        linear(Adapters::MlpIn, a.hidden, ffn, a.mlpBias);
    }
    linear(Adapters::MlpOut, ffn, a.hidden, a.mlpBias);
    for (int i = 0; i < (a.layerNorm ? 4 : 2); ++i) {
        weights.tensors.push_back({Vector, a.hidden});
    }
    for (int i = 0; i < (a.qkNorm ? 2 : 0); ++i) {
        weights.tensors.push_back({Vector, a.headDim});
    }
    return weights;
}

TorchWeights embeddingWeights(const TorchShape& shape)
{
    TorchWeights weights;
    weights.tensors.push_back({TorchWeights::Kind::Table, shape.model.vocab / shape.tensor, shape.model.hidden});
    if (shape.model.positions > 0) {
        weights.tensors.push_back({TorchWeights::Kind::Table, shape.model.positions, shape.model.hidden});
    }
    return weights;
}

TorchWeights headWeights(const TorchShape& shape)
{
    TorchWeights weights;
    for (int i = 0; i < (shape.model.layerNorm ? 2 : 1); ++i) {
        weights.tensors.push_back({TorchWeights::Kind::Vector, shape.model.hidden});
    }
    if (!shape.model.tied) {
        weights.tensors.push_back({TorchWeights::Kind::Table, shape.model.vocab / shape.tensor, shape.model.hidden});
    }
    return weights;
}

} // namespace headroom
