// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_torch_modules.h"

#include <cmath>

namespace headroom {

using enum TensorKind;

ModuleGraph::Tensor torchNorm(const TorchShape& c, ModuleGraph& graph, ModuleGraph::Tensor input, std::int64_t rows,
                              std::int64_t width)
{
    const std::int64_t elements = rows * width;
    const Architecture& a = c.model;
    ModuleGraph::Operation op{.kind = NormOutput, .bytes = elements * c.compute, .reads = {input}};
    if (a.layerNorm || c.hasFusedNorm) {
        op.saves = {true};
        op.keeps = {{NormStatistics, rows * (a.layerNorm ? 8 : 4)}};
    } else {
        op.keeps = {{NormCopy, elements * 4}, {NormStatistics, rows * 4}};
        if (c.trainsModel) {
            op.keeps.push_back({NormOutput, elements * c.compute});
        }
        op.forwardWork = 4 * elements;
        op.backwardWork = 4 * elements;
    }
    op.weight = c.trainsModel ? width * (a.layerNorm ? 2 : 1) : 0;
    return graph.apply(std::move(op));
}

GradientRule torchGradients(const TorchShape& c)
{
    GradientRule rule;
    rule.element = c.gradient;
    rule.shards = c.shards;
    switch (c.sharding) {
    case TorchSharding::Fsdp:
        rule.kind = GradientRule::Kind::Reduce;
        rule.element = c.compute;
        rule.reduced = c.reduced;
        rule.shard = static_cast<std::int64_t>(c.weight);
        break;
    case TorchSharding::Zero2:
    case TorchSharding::Zero3:
        rule.kind = GradientRule::Kind::Partition;
        rule.shard = c.gradient;
        break;
    default:
        rule.kind = c.stepsInBackward ? GradientRule::Kind::Release : GradientRule::Kind::Keep;
    }
    return rule;
}

std::int64_t torchGathered(const TorchShape& c, const TorchWeights& weights)
{
    if (!c.gathers()) {
        return 0;
    }
    const double matrix = c.quantises ? c.frozenMatrix : static_cast<double>(c.compute);
    using enum TorchWeights::Kind;
    const std::int64_t others = weights.total(Table) + weights.total(Vector) + weights.total(Adapter);
    return std::llround(static_cast<double>(weights.total(Matrix)) * matrix + static_cast<double>(others * c.compute));
}

void fillTorchParameters(const TorchWeights& weights, Piece& piece)
{
    piece.parameters.clear();
    for (const TorchWeights::Tensor& tensor : weights.tensors) {
        piece.parameters.push_back(tensor.elements());
    }
}

void setTorchGathered(const TorchShape& c, const TorchWeights& weights, ModuleGraph::Options& options)
{
    options.gathered = torchGathered(c, weights);
    options.gatherBuffer
        = c.sharding == TorchSharding::Fsdp && c.shards > 1 ? options.gathered + options.gathered / c.shards : 0;
}

} // namespace headroom
