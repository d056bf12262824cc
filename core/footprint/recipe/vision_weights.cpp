// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/vision_weights.h"

#include "footprint/recipe/part_builder.h"

#include <algorithm>

namespace headroom {

namespace {

/// A stack of biased linear layers, hidden widths equal (theory.md 1.6).
void addPerceptron(PartBuilder& part, Elements in, const Projector& projector, std::int64_t layers)
{
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const Elements out = layer + 1 == layers ? projector.out : projector.hidden;
        part.replicated(layer == 0 ? in : projector.hidden, out);
        part.vector(out);
    }
}

/// Learned queries, blocks of cross-attention and MLP (f = 4h_r) with three norms each, a final norm.
void addResampler(PartBuilder& part, const Projector& projector)
{
    const Elements width = projector.hidden;
    part.table(projector.tokens, width);
    if (projector.in != projector.hidden) {
        part.replicated(projector.in, width);
    }
    PartBuilder block(1);
    for (int projection = 0; projection < 4; ++projection) {
        block.replicated(width, width);
    }
    block.replicated(width, Elements(4) * width);
    block.replicated(Elements(4) * width, width);
    block.vector(Elements(6) * width);
    part.add(block.weights().times(projector.layers));
    part.vector(Elements(2) * width);
}

/// Idefics 2: a gated MLP as wide as the language model's, then blocks in which learned queries attend to the images
/// with 16 heads of 96 over 4 groups, and a gated MLP of 4h (transformers, configuration_idefics2.py).
void addPerceiver(PartBuilder& part, const Projector& projector)
{
    constexpr std::int64_t queries = 16 * 96, groups = 4 * 96;
    const Elements width = projector.out;
    part.replicated(projector.in, Elements(2) * projector.hidden);
    part.replicated(projector.hidden, width);
    part.table(projector.tokens, width);
    PartBuilder block(1);
    block.replicated(width, queries + 2 * groups);
    block.replicated(queries, width);
    block.replicated(width, Elements(8) * width);
    block.replicated(Elements(4) * width, width);
    block.vector(Elements(3) * width);
    part.add(block.weights().times(projector.layers));
    part.vector(width);
}

} // namespace

Weights visionLayerWeights(const VisionTower& tower, std::int64_t tensorParallel)
{
    PartBuilder layer(tensorParallel);
    for (int projection = 0; projection < 3; ++projection) {
        layer.column(tower.hidden, tower.hidden);
        if (tower.qkvBias) {
            layer.columnBias(tower.hidden);
        }
    }
    layer.row(tower.hidden, tower.hidden);
    layer.vector(tower.hidden);
    layer.mlp(tower.hidden, tower.ffn, tower.gate, true);
    layer.vector(Elements(2) * tower.norm());
    return layer.weights();
}

Weights visionStemWeights(const VisionTower& tower, std::int64_t tensorParallel)
{
    PartBuilder part(tensorParallel);
    constexpr std::int64_t channels = 3;
    part.replicated(Elements(channels) * tower.temporalPatch * tower.patch * tower.patch, tower.hidden);
    if (tower.patchBias) {
        part.vector(tower.hidden);
    }
    if (tower.learnedPositions) {
        part.table(tower.positions, tower.hidden);
    }
    if (tower.classToken) {
        part.vector(tower.hidden);
    }
    part.vector(Elements(tower.extraNorms) * tower.norm());
    return part.weights();
}

Weights projectorWeights(const Projector& projector, const VisionTower& tower)
{
    PartBuilder part(1);
    const Elements norm = Elements(tower.layerNorm ? 2 : 1) * projector.in;
    const Elements merged = Elements(projector.in) * projector.merge * projector.merge;
    Projector merger = projector;
    merger.hidden = merged.value();
    switch (projector.kind) {
    case Projector::Kind::None:
        break;
    case Projector::Kind::Linear:
        addPerceptron(part, projector.in, projector, 1);
        break;
    case Projector::Kind::Mlp:
        addPerceptron(part, projector.in, projector, std::min<std::int64_t>(projector.layers, 64));
        break;
    case Projector::Kind::PatchMerger:
        part.vector(norm);
        addPerceptron(part, merged, merger, 2);
        for (std::int64_t extra = 0; extra < std::min<std::int64_t>(projector.deepstack, 64); ++extra) {
            part.vector(Elements(tower.layerNorm ? 2 : 1) * merged);
            addPerceptron(part, merged, merger, 2);
        }
        break;
    case Projector::Kind::PixelShuffle:
        part.vector(Elements(2) * merged);
        addPerceptron(part, merged, projector, 2);
        break;
    case Projector::Kind::Resampler:
        addResampler(part, projector);
        break;
    case Projector::Kind::Perceiver:
        addPerceiver(part, projector);
        break;
    }
    return part.weights();
}

std::vector<std::int64_t> projectorWidths(const Projector& projector)
{
    const std::int64_t merged = projector.in * projector.merge * projector.merge;
    switch (projector.kind) {
    case Projector::Kind::None:
    case Projector::Kind::Resampler:
    case Projector::Kind::Perceiver:
        return {};
    case Projector::Kind::Linear:
        return {projector.in, projector.out};
    case Projector::Kind::PatchMerger:
        return {merged, merged, projector.out};
    case Projector::Kind::PixelShuffle:
        return {merged, projector.hidden, projector.out};
    default:
        break;
    }
    std::vector<std::int64_t> widths{projector.in};
    widths.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(projector.layers, 1, 64)), projector.hidden);
    widths.push_back(projector.out);
    return widths;
}

} // namespace headroom
