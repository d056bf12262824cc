// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/layer_tensors.h"

#include <algorithm>
#include <string>

namespace headroom {

using enum Kept;

namespace {

double real(std::int64_t value)
{
    return static_cast<double>(value);
}

void addAttention(LayerTensors& layer, const Architecture& model, const Split& split)
{
    const double tensor = real(split.tensor);
    const double outside = real(split.outside());
    if (model.isMla) {
        const double heads = real(model.heads) / tensor;
        const double key = real(model.nopeDim + model.ropeDim);
        layer[Latents] = bytesPerValue
            * ((2 * real(model.qLoraRank) + 2 * real(model.kvLoraRank) + real(model.ropeDim)) / outside
               + real(model.ropeDim));
        layer[QueryKeyValue] = bytesPerValue * heads * (2 * key + real(model.valueDim));
        layer[AttentionOutput] = bytesPerValue * heads * real(model.valueDim);
    } else if (model.heads > 0) {
        const double queries = real(model.heads) * real(model.headDim) / tensor;
        const double keys = std::max(real(model.groups) / tensor, 1.0) * real(model.headDim);
        layer[QueryKeyValue] = bytesPerValue * (queries + 2 * keys);
        layer[AttentionOutput] = bytesPerValue * queries;
    } else {
        layer[QueryKeyValue] = 3 * bytesPerValue * real(model.hidden) / tensor;
        layer[AttentionOutput] = bytesPerValue * real(model.hidden) / tensor;
    }
    layer[LogSumExp] = 4 * real(model.heads) / tensor;
}

/// Norms and attention: what layers with and without experts have in common.
LayerTensors commonTensors(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery)
{
    LayerTensors layer;
    const double stream = bytesPerValue * real(model.hidden) / real(split.outside());
    // Side by side, attention and MLP read one stream, through a norm each or through the same one.
    const double norms = real(model.blockNorms);
    layer[NormInputs] = (model.isParallel ? 1 : 2) * stream;
    layer[AttentionNorm] = stream;
    layer[MlpNorm] = (norms - 1) * stream;
    if (!model.isTextbook) {
        layer[NormStatistics] = norms * (model.layerNorm ? 8.0 : 4.0) / real(split.outside());
    }
    addAttention(layer, model, split);
    layer[DropoutMasks] = model.hiddenDropout ? stream : 0; // two masks of one byte a value
    layer[Scores] = scoreSize * real(model.heads) / real(split.tensor) * keysPerQuery;
    return layer;
}

} // namespace

double LayerTensors::total() const
{
    double sum = 0;
    for (const double tensor : bytes) {
        sum += tensor;
    }
    return sum;
}

void LayerTensors::drop(std::initializer_list<Kept> tensors)
{
    for (const Kept tensor : tensors) {
        (*this)[tensor] = 0;
    }
}

double scoreBytes(const TrainingPlan& plan)
{
    const std::string& name = plan.attention.impl.value;
    if (!plan.attention.impl.isKnown()) {
        return 0;
    }
    const double dropout = plan.model.attnDropout.valueOr(0) > 0 ? 1 + 2 : 0;
    if (name == "eager") {
        return 6 + dropout;
    }
    return name == "unfused" || name == "local" || name == "math" ? 2 + dropout : 0;
}

LayerTensors denseLayer(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery)
{
    LayerTensors layer = commonTensors(model, split, scoreSize, keysPerQuery);
    const double width = real(model.ffn) / real(split.tensor);
    layer[Hidden] = bytesPerValue * real(model.gate) * width;
    layer[Activated] = bytesPerValue * width;
    return layer;
}

LayerTensors expertLayer(const Architecture& model, const Split& split, double scoreSize, double keysPerQuery,
                         double capacityFactor)
{
    LayerTensors layer = commonTensors(model, split, scoreSize, keysPerQuery);
    const double outside = real(split.outside());
    const double experts = real(model.experts);
    const double topk = real(model.topk);
    // Scores, top-k indices and values, and the fused permutation map (theory_moe_cp.md 4).
    layer[Router] = (4 * experts + 12 * topk + 4 * (2 * experts + 1)) / outside;
    // Rows that reach the local experts for each token: sequence shards are gathered over expert tensor parallelism.
    const double rows = topk * capacityFactor * std::min(real(split.expertTensor) / outside, 1.0);
    const double width = real(model.expertFfn) / real(split.expertTensor);
    layer[ExpertInput] = bytesPerValue * rows * real(model.latent > 0 ? model.latent : model.hidden);
    layer[ExpertHidden] = bytesPerValue * rows * real(model.gate) * width;
    layer[ExpertActivated] = bytesPerValue * rows * width;
    layer[ExpertProbabilities] = 4 * rows;
    const double shared = real(model.sharedFfn) / real(split.tensor);
    layer[SharedHidden] = bytesPerValue * real(model.gate) * shared;
    layer[SharedActivated] = bytesPerValue * shared;
    return layer;
}

void addCrossAttention(const Architecture& model, const Split& split, double scoreSize, const CrossTokens& tokens,
                       LayerTensors& layer)
{
    const double stream = bytesPerValue * real(model.hidden) / real(split.outside());
    const double queries = bytesPerValue * real(model.heads) * real(model.headDim) / real(split.tensor);
    const double keys = bytesPerValue * std::max(real(model.groups) / real(split.tensor), 1.0) * real(model.headDim);
    layer[NormInputs] += stream;
    layer[AttentionNorm] += stream;
    layer[NormStatistics] += (model.layerNorm ? 8.0 : 4.0) / real(split.outside());
    layer[QueryKeyValue] += queries + 2 * keys * tokens.memory / tokens.own;
    layer[AttentionOutput] += queries;
    layer[LogSumExp] += 4 * real(model.heads) / real(split.tensor);
    layer[DropoutMasks] += model.hiddenDropout ? stream / 2 : 0;
    layer[Scores] += scoreSize * real(model.heads) / real(split.tensor) * tokens.memory;
}

} // namespace headroom
