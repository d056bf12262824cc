// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape_vision.h"

#include "footprint/tape_megatron_ops.h"
#include "footprint/tape_megatron_parameters.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

/// The linear layers of a projector: widths from the first input to the last output.
std::vector<std::int64_t> widthsOf(const Projector& projector)
{
    const std::int64_t merged = projector.in * projector.merge * projector.merge;
    switch (projector.kind) {
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

void addNorm(Piece& piece, std::int64_t width, bool isLayerNorm)
{
    piece.parameters.insert(piece.parameters.end(), isLayerNorm ? 2 : 1, width);
}

} // namespace

RankShape visionShape(const RankShape& language, const VisionTower& tower, const EncoderShare& share)
{
    RankShape shape = language;
    shape.tensor = share.tensor;
    shape.family = ModelFamily::Decoder;
    shape.hidden = tower.hidden;
    shape.headDim = tower.hidden / std::max<std::int64_t>(tower.heads, 1);
    shape.heads = shape.groups = std::max<std::int64_t>(tower.heads / share.tensor, 1);
    shape.ffn = tower.ffn / share.tensor;
    shape.gates = tower.gate;
    shape.rotaryDim = 0;
    shape.isRms = !tower.layerNorm;
    shape.hasQkvBias = tower.qkvBias;
    shape.hasAttentionOutputBias = shape.hasMlpBias = true;
    shape.hasQkNorm = shape.isSquaredRelu = shape.hasLoaderMask = false;
    shape.hasAttentionDropout = shape.hasHiddenDropout = shape.usesFp8 = false;
    shape.microBatch = share.images;
    shape.sequence = shape.fullSequence = tower.tokens;
    shape.sequenceShards = 1;
    shape.recomputesAttention = shape.recomputesMlp = shape.recomputesNorms = false;
    shape.isFrozen = !share.isTrained;
    return shape;
}

RankShape projectorShape(const RankShape& vision, bool isTrained)
{
    RankShape shape = vision;
    shape.isFrozen = !isTrained;
    return shape;
}

void writePatches(const RankShape& shape, const VisionTower& tower, PersistentStorages& persistents, Piece& piece)
{
    MegatronOps ops(shape, piece.tape, persistents);
    // No input: the pixels come from the loader.
    ops.writer.declare(Tape::gradient, ActivationGradient, ops.streamBytes(shape.tokens()));
    constexpr std::int64_t channels = 3;
    const std::int64_t patchElements = channels * tower.temporalPatch * tower.patch * tower.patch;
    const std::int64_t bytes = ops.streamBytes(shape.tokens());
    const Tape::Slot pixels = ops.writer.allocate(Batch, shape.tokens() * patchElements * shape.element);
    Tape::Slot stream = ops.writer.allocate(ResidualStream, bytes);
    if (tower.learnedPositions || tower.classToken) {
        const Tape::Slot sum = ops.writer.allocate(ResidualStream, bytes);
        ops.writer.free(stream);
        stream = sum;
    }
    MegatronOps::Norm norm;
    const Tape::Slot before = stream;
    if (tower.extraNorms > 0) {
        norm = ops.norm(shape.tokens(), shape.hidden, false);
        stream = norm.output;
    }
    ops.writer.beginBackward(stream);
    if (stream != before) {
        ops.writer.free(before);
        ops.writer.freeAll(norm.statistics);
    }
    ops.writer.free(ops.writer.allocate(WeightGradient, patchElements * shape.hidden * shape.element));
    ops.writer.free(pixels, Tape::gradient);

    piece.parameters = {patchElements * shape.hidden};
    if (tower.patchBias) {
        piece.parameters.push_back(shape.hidden);
    }
    if (tower.learnedPositions) {
        piece.parameters.push_back(tower.positions * shape.hidden);
    }
    if (tower.classToken) {
        piece.parameters.push_back(shape.hidden);
    }
    for (std::int64_t i = 0; i < tower.extraNorms; ++i) {
        addNorm(piece, shape.hidden, tower.layerNorm);
    }
}

void writeProjector(const RankShape& shape, const VisionTower& tower, const Projector& projector, bool trainsEncoder,
                    PersistentStorages& persistents, Piece& piece)
{
    MegatronOps ops(shape, piece.tape, persistents);
    TapeWriter& w = ops.writer;
    const std::vector<std::int64_t> widths = widthsOf(projector);
    const std::int64_t rows = shape.microBatch * projector.tokens;
    w.declare(Tape::input, ResidualStream, ops.streamBytes(shape.tokens()));
    w.declare(Tape::gradient, ActivationGradient, rows * projector.out * shape.element);
    piece.parameters.clear();
    const bool hasNorm
        = projector.kind == Projector::Kind::PatchMerger || projector.kind == Projector::Kind::PixelShuffle;
    MegatronOps::Norm norm;
    if (hasNorm) {
        const bool isMerged = projector.kind == Projector::Kind::PixelShuffle;
        norm = ops.norm(isMerged ? rows : shape.tokens(), isMerged ? widths[0] : shape.hidden, false);
        addNorm(piece, isMerged ? widths[0] : projector.in, isMerged || tower.layerNorm);
    }
    std::vector<Tape::Slot> before, after; // of the activations between the linear layers
    Tape::Slot read = norm.output;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
        Tape::Slot written = ops.linear(Fc1Output, rows * widths[i + 1] * shape.element);
        ops.dropInput(read);
        before.push_back(written);
        after.push_back(read);
        if (i + 2 < widths.size()) {
            written = w.allocate(ActivationOutput, rows * widths[i + 1] * shape.element);
        }
        read = written;
        addMatrix(piece, widths[i + 1], widths[i]);
        piece.parameters.push_back(widths[i + 1]);
    }
    const Tape::Slot output = before.back();
    before.back() = Tape::none;
    w.beginBackward(output);
    Tape::Slot gradient = Tape::none;
    for (std::size_t i = widths.size() - 1; i-- > 0;) {
        if (i + 2 < widths.size()) {
            // Through the activation, whose input was kept.
            const Tape::Slot through = w.allocate(ActivationGradient, rows * widths[i + 1] * shape.element);
            w.free(gradient, before[i]);
            gradient = through;
        }
        const auto gradients = ops.linearBackward(rows * widths[i] * shape.element, widths[i + 1], widths[i]);
        w.free(gradient, after[i], gradients.weight);
        gradient = gradients.input;
    }
    w.freeAll(norm.statistics);
    w.free(gradient, Tape::gradient);
    if (trainsEncoder) {
        w.allocateInto(Tape::gradient, ActivationGradient, ops.streamBytes(shape.tokens()));
    }
    w.free(Tape::input);
}

} // namespace headroom
