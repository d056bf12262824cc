// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/pipeline.h"

#include "footprint/torch/modules.h"

#include <algorithm>
#include <cmath>

namespace headroom {

namespace {

constexpr std::uint64_t gatheredKey = 0x6761746865726564; // apart from the other profiles' keys
constexpr std::uint64_t receivedKey = 0x7265636569766564;

} // namespace

TorchPipeline::TorchPipeline(const TorchShape& shape, std::uint16_t firstPiece, ModelProgram& program)
    : m_shape(shape)
    , m_program(program)
    , m_nextPiece(firstPiece)
{
}

std::int64_t TorchPipeline::chunks(const TorchShape& shape)
{
    const std::int64_t language = shape.stages - shape.encoderStages;
    return shape.stages > 1 ? shape.encoderStages + language * (shape.chunks + (shape.encoderCopies > 1 ? 1 : 0)) : 0;
}

void TorchPipeline::begin(Chunk& chunk) const
{
    if (m_shape.stages > 1) {
        chunk.runs.push_back({m_nextPiece, 1, 0});
    }
}

void TorchPipeline::end(Chunk& chunk, std::span<const TorchPart> parts, bool isStages)
{
    if (m_shape.stages <= 1) {
        return;
    }
    writeGathering(m_nextPiece, parts);
    if (chunk.sends && isStages && !chunk.isFrozen) {
        addSending(static_cast<std::uint16_t>(m_nextPiece + 1), chunk);
    }
    m_nextPiece = static_cast<std::uint16_t>(m_nextPiece + 2);
}

/// FSDP gathers a pipeline stage's weights once a step.
void TorchPipeline::writeGathering(std::uint16_t index, std::span<const TorchPart> parts)
{
    Piece& piece = m_program.pieces[index];
    double gathered = 0;
    for (const TorchPart& part : parts) {
        for (const TorchWeights::Tensor& tensor : part.weights.tensors) {
            gathered += gatheredBytes(m_shape, tensor) * static_cast<double>(part.count);
        }
    }
    TapeWriter writer(piece.tape, m_program.persistents);
    if (m_shape.gathers() && !m_shape.habits.reshardsInPipelines) {
        writer.ensureForStep(gatheredKey + index, TensorKind::GatheredParameters, std::llround(gathered));
    }
    writer.beginBackward(Tape::input);
    piece.parameters.clear();
}

/// What a stage sends stays until its backward (fwd_cache), and each micro-batch has a buffer of its own for the
/// gradient of that (_prepare_backward_infra).
void TorchPipeline::addSending(std::uint16_t index, Chunk& chunk)
{
    Piece& piece = m_program.pieces[index];
    const std::int64_t bytes = chunk.sentBytes > 0 ? chunk.sentBytes : m_shape.streamBytes();
    TapeWriter writer(piece.tape, m_program.persistents);
    writer.declare(Tape::input, TensorKind::ResidualStream, bytes);
    if (m_shape.habits.receivesIntoBuffers) {
        constexpr double most = 1e18; // beyond any machine, and summable
        const double all = static_cast<double>(bytes) * static_cast<double>(m_program.shape.microBatches);
        writer.ensure(receivedKey + index, TensorKind::Boundary, static_cast<std::int64_t>(std::min(all, most)));
    }
    const Tape::Slot kept = writer.allocate(TensorKind::Boundary, bytes);
    writer.beginBackward(Tape::input);
    writer.free(kept);
    piece.tape.weights = piece.tape.backward; // backward_state keeps it (stage.py, backward_one_chunk; from memory)
    piece.parameters.clear();
    chunk.runs.push_back({index, 1, 0});
}

} // namespace headroom
