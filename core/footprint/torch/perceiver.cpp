// SPDX-License-Identifier: GPL-3.0-or-later
// Idefics 2's connector (transformers modeling_idefics2.py, Idefics2Connector and Idefics2PerceiverResampler, from
// memory): a gated MLP widens each patch to the language model's size, then learned latents attend, layer by layer, to
// an image's patches and to themselves. Its sizes are those of configuration_idefics2.py.
#include "footprint/torch/modules.h"
#include "footprint/torch/vision.h"

namespace headroom {

using enum TensorKind;
using Tensor = TorchModules::Tensor;

namespace {

constexpr std::int64_t heads = 16, groups = 4, headDim = 96;
constexpr std::int64_t widening = 4; ///< of the MLP in a layer

} // namespace

TorchShape torchPerceiverShape(const TorchShape& vision, const VisionTower& tower, const Projector& projector)
{
    TorchShape shape = vision;
    shape.model.hidden = projector.out;
    shape.model.heads = heads;
    shape.model.groups = groups;
    shape.model.headDim = headDim;
    shape.model.gate = 2;
    shape.model.layerNorm = shape.model.qkNorm = false;
    shape.tokens = vision.tokens / std::max<std::int64_t>(tower.tokens, 1) * projector.tokens;
    shape.keys = tower.tokens + projector.tokens;
    shape.tensor = 1;
    shape.repeatsKv = vision.habits.repeatsKv;
    shape.rotates = false;
    return shape;
}

TorchWeights perceiverWeights(const Projector& projector)
{
    using enum TorchWeights::Kind;
    const std::int64_t out = projector.out, queries = heads * headDim, keys = groups * headDim;
    TorchWeights weights;
    weights.tensors = {{Matrix, projector.hidden, projector.in},
                       {Matrix, projector.hidden, projector.in},
                       {Matrix, out, projector.hidden},
                       {Table, projector.tokens, out}};
    for (std::int64_t layer = 0; layer < projector.layers; ++layer) {
        for (const auto& [rows, columns] :
             {std::pair{queries, out}, std::pair{keys, out}, std::pair{keys, out}, std::pair{out, queries},
              std::pair{widening * out, out}, std::pair{widening * out, out}, std::pair{out, widening * out}}) {
            weights.tensors.push_back({Matrix, rows, columns});
        }
        weights.tensors.insert(weights.tensors.end(), 3, {Vector, out});
    }
    weights.tensors.push_back({Vector, out});
    return weights;
}

Tensor TorchModules::perceiver(Tensor patches, const Projector& projector)
{
    const std::int64_t out = projector.out, latentRows = m_shape.tokens;
    const std::int64_t patchRows = latentRows / projector.tokens * (m_shape.keys - projector.tokens);
    const std::int64_t allRows = patchRows + latentRows;
    const Tensor context = mlp(patches, out, {patchRows, projector.in, projector.hidden}, denseMlp);
    Tensor latents = m_graph.apply({.kind = ResidualStream, // expanded to all images, which takes nothing
                                    .bytes = 0,
                                    .reads = {},
                                    .weight = m_shape.trainsModel ? projector.tokens * out : 0});
    for (std::int64_t layer = 0; layer < projector.layers; ++layer) {
        const Tensor asking = norm(latents, latentRows, out);
        const Tensor asked = m_graph.apply({.kind = KeyValueProjection,
                                            .bytes = allRows * out * m_shape.compute,
                                            .reads = {norm(context, patchRows, out), asking}});
        const Tensor query = linear(asking, QueryProjection, {latentRows, out, heads * headDim});
        const Tensor key = repeated(linear(asked, KeyValueProjection, {allRows, out, groups * headDim}));
        const Tensor value = repeated(linear(asked, KeyValueProjection, {allRows, out, groups * headDim}));
        const Tensor found = attend(query, key, value, heads, heads * headDim);
        latents = add(latents, linear(found, PartialOutput, {latentRows, heads * headDim, out}));
        const Tensor normed = norm(latents, latentRows, out);
        latents = add(latents, mlp(normed, out, {latentRows, out, widening * out}, denseMlp));
    }
    return norm(latents, latentRows, out);
}

} // namespace headroom
