// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch.h"

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
        : c(shape)
        , a(shape.model)
    {
    }

    TorchWeights make(bool hasExperts)
    {
        a.isMla ? addLatentAttention() : addAttention();
        if (hasExperts) {
            add(Adapters::Other, a.hidden, a.experts, false);
            addMlp(a.expertFfn / c.expertTensor, a.experts / c.expertRanks);
            if (a.sharedFfn > 0) {
                addMlp(a.sharedFfn / c.tensor);
            }
        } else {
            addMlp(a.ffn / c.tensor);
        }
        for (int i = 0; i < (a.layerNorm ? 4 : 2); ++i) {
            addVector(a.hidden);
        }
        return std::move(m_weights);
    }

private:
    /// `count`: experts, 0 where it is none.
    void add(Adapters::Target target, std::int64_t in, std::int64_t out, bool hasBias, std::int64_t count = 0)
    {
        using enum TorchWeights::Kind;
        const std::int64_t many = std::max<std::int64_t>(count, 1);
        m_weights.tensors.push_back({Matrix, out * many, in, count > 0});
        if (hasBias) {
            addVector(out * many);
        }
        const bool isPacked = c.adaptsPackedQkv && (target == Adapters::Key || target == Adapters::Value);
        if (c.hasAdapter(target) && !isPacked) {
            const bool holdsAll = c.adaptsPackedQkv && target == Adapters::Query;
            const std::int64_t width = holdsAll ? out + 2 * keyWidth() : out;
            m_weights.tensors.push_back({Adapter, c.adapters.rank * many, in, count > 0});
            m_weights.tensors.push_back({Adapter, width * many, c.adapters.rank, count > 0});
        }
    }

    void addVector(std::int64_t elements) { m_weights.tensors.push_back({TorchWeights::Kind::Vector, elements}); }

    [[nodiscard]] std::int64_t keyWidth() const { return std::max<std::int64_t>(a.groups / c.tensor, 1) * a.headDim; }

    void addAttention()
    {
        const std::int64_t query = std::max<std::int64_t>(a.heads / c.tensor, 1) * a.headDim;
        add(Adapters::Query, a.hidden, query, a.qkvBias);
        add(Adapters::Key, a.hidden, keyWidth(), a.qkvBias);
        add(Adapters::Value, a.hidden, keyWidth(), a.qkvBias);
        add(Adapters::Output, query, a.hidden, a.outBias);
        for (int i = 0; i < (a.qkNorm ? 2 : 0); ++i) {
            addVector(a.headDim);
        }
    }

    void addLatentAttention()
    {
        const std::int64_t heads = std::max<std::int64_t>(a.heads / c.tensor, 1);
        const std::int64_t width = heads * (a.nopeDim + a.ropeDim);
        if (a.qLoraRank > 0) {
            add(Adapters::Query, a.hidden, a.qLoraRank, a.qkvBias);
            addVector(a.qLoraRank);
        }
        add(Adapters::Query, a.qLoraRank > 0 ? a.qLoraRank : a.hidden, width, false);
        add(Adapters::Key, a.hidden, a.kvLoraRank + a.ropeDim, a.qkvBias);
        addVector(a.kvLoraRank);
        add(Adapters::Value, a.kvLoraRank, heads * (a.nopeDim + a.valueDim), false);
        add(Adapters::Output, heads * a.valueDim, a.hidden, a.outBias);
    }

    void addMlp(std::int64_t width, std::int64_t experts = 0)
    {
        for (std::int64_t i = 0; i < a.gate; ++i) {
            add(Adapters::MlpIn, a.hidden, width, a.mlpBias && experts == 0, experts);
        }
        add(Adapters::MlpOut, width, a.hidden, a.mlpBias && experts == 0, experts);
    }

    const TorchShape& c;
    const Architecture& a;
    TorchWeights m_weights;
};

} // namespace

TorchWeights blockWeights(const TorchShape& shape, bool hasExperts)
{
    return BlockWeights(shape).make(hasExperts);
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
