// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/vision.h"

#include "footprint/megatron/ops.h"
#include "footprint/megatron/parameters.h"
#include "footprint/recipe/vision_weights.h"

#include <algorithm>

namespace headroom {

using enum TensorKind;

namespace {

void addNorm(Piece& piece, std::int64_t width, bool isLayerNorm)
{
    piece.parameters.insert(piece.parameters.end(), isLayerNorm ? 2 : 1, width);
}

/// One stack of linear layers with an activation between each two: the projector, or one of several mergers.
class ProjectorTape
{
public:
    struct Part
    {
        Tape::Slot input = Tape::none; ///< kept for it alone
        MegatronOps::Norm norm;
        std::vector<Tape::Slot> before, after; ///< of the activations between the linear layers
        Tape::Slot output = Tape::none;
    };

    ProjectorTape(const Projector& projector, const VisionTower& tower, MegatronOps& ops, Piece& piece)
        : m_projector(projector)
        , m_tower(tower)
        , m_ops(ops)
        , m_piece(piece)
        , m_widths(projectorWidths(projector))
        , m_rows(ops.shape.microBatch * projector.tokens)
    {
    }

    /// `readsInner`: an inner layer, of which patches are merged before they are normed (theory.md 1.6).
    Part forward(bool readsInner)
    {
        const bool isPixelShuffle = m_projector.kind == Projector::Kind::PixelShuffle;
        const bool isMerged = isPixelShuffle || readsInner;
        Part part;
        if (isPixelShuffle || m_projector.kind == Projector::Kind::PatchMerger) {
            part.norm = m_ops.norm(isMerged ? m_rows : m_ops.shape.tokens(),
                                   isMerged ? m_widths[0] : m_ops.shape.hidden, false);
            addNorm(m_piece, isMerged ? m_widths[0] : m_projector.in, isPixelShuffle || m_tower.layerNorm);
        }
        Tape::Slot read = part.norm.output;
        for (std::size_t i = 0; i + 1 < m_widths.size(); ++i) {
            Tape::Slot written = m_ops.linear(Fc1Output, bytes(i + 1));
            m_ops.dropInput(read);
            part.before.push_back(written);
            part.after.push_back(read);
            if (i + 2 < m_widths.size()) {
                written = m_ops.writer.allocate(ActivationOutput, bytes(i + 1));
            }
            read = written;
            addMatrix(m_piece, m_widths[i + 1], m_widths[i]);
            m_piece.parameters.push_back(m_widths[i + 1]);
        }
        part.output = part.before.back();
        part.before.back() = Tape::none;
        return part;
    }

    /// What the input gets is added to the gradient of the stream.
    void backward(const Part& part)
    {
        TapeWriter& w = m_ops.writer;
        Tape::Slot gradient = Tape::none;
        for (std::size_t i = m_widths.size() - 1; i-- > 0;) {
            if (i + 2 < m_widths.size()) {
                // Through the activation, whose input was kept.
                const Tape::Slot through = w.allocate(ActivationGradient, bytes(i + 1));
                w.free(gradient, part.before[i]);
                gradient = through;
            }
            const auto gradients = m_ops.linearBackward(bytes(i), m_widths[i + 1], m_widths[i]);
            w.free(gradient, part.after[i], gradients.weight);
            gradient = gradients.input;
        }
        w.freeAll(part.norm.statistics);
        w.free(gradient);
    }

private:
    [[nodiscard]] std::int64_t bytes(std::size_t width) const { return m_rows * m_widths[width] * m_ops.shape.element; }

    const Projector& m_projector;
    const VisionTower& m_tower;
    MegatronOps& m_ops;
    Piece& m_piece;
    const std::vector<std::int64_t> m_widths;
    const std::int64_t m_rows;
};

} // namespace

RankShape visionShape(const RankShape& language, const VisionTower& tower, const EncoderShare& share)
{
    RankShape shape = language;
    shape.tensor = share.tensor;
    shape.family = ModelFamily::Decoder;
    shape.hidden = tower.hidden;
    shape.headDim = tower.hidden / std::max<std::int64_t>(tower.heads, 1);
    shape.heads = shape.groups = std::max<std::int64_t>(tower.heads / share.tensor, 1);
    shape.requireKernel();
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
    shape.trained = TrainedParts::all;
    shape.adapters = {};
    shape.hybrid = {};
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

std::int64_t mergersOf(const Projector& projector)
{
    constexpr std::int64_t most = 64; // as many as the recipe counts
    return projector.kind == Projector::Kind::PatchMerger ? 1 + std::clamp<std::int64_t>(projector.deepstack, 0, most)
                                                          : 1;
}

void writeProjector(const RankShape& shape, const VisionTower& tower, const Projector& projector, bool trainsEncoder,
                    PersistentStorages& persistents, Piece& piece)
{
    MegatronOps ops(shape, piece.tape, persistents);
    TapeWriter& w = ops.writer;
    const std::int64_t stream = ops.streamBytes(shape.tokens());
    const std::int64_t features = mergersOf(projector) * shape.microBatch * projector.tokens * projector.out;
    w.declare(Tape::input, ResidualStream, stream);
    w.declare(Tape::gradient, ActivationGradient, features * shape.element);
    piece.parameters.clear();
    ProjectorTape tape(projector, tower, ops, piece);
    std::vector<ProjectorTape::Part> parts;
    for (std::int64_t i = mergersOf(projector); i-- > 0;) { // that of the last layer comes last
        // Trained layers keep what an inner merger reads, being the next one's input.
        const Tape::Slot read = i > 0 && !trainsEncoder ? w.allocate(ResidualStream, stream) : Tape::none;
        parts.push_back(tape.forward(i > 0));
        parts.back().input = read;
    }
    Tape::Slot output = parts.back().output;
    if (parts.size() > 1) {
        for (const ProjectorTape::Part& part : parts) {
            w.free(part.output);
        }
        output = w.allocate(Fc1Output, features * shape.element); // a tape hands on one storage
    }
    w.beginBackward(output);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        tape.backward(*part);
        w.free(part->input);
    }
    w.free(Tape::gradient);
    if (trainsEncoder) {
        w.allocateInto(Tape::gradient, ActivationGradient, stream);
    }
    w.free(Tape::input);
}

} // namespace headroom
