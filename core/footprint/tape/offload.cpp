// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/offload.h"

#include <algorithm>
#include <cmath>

namespace headroom {

using enum TensorKind;

namespace {

constexpr std::uint64_t firstBufferKey = 0x6f66666c6f6164; // apart from the profiles' keys
constexpr std::int64_t leastElements = 1 << 20; // smaller tensors stay

/// Whose input a storage is.
unsigned moduleOf(TensorKind kind, bool hasExperts)
{
    switch (kind) {
    case NormOutput:
        return OffloadShape::QkvLinear;
    case ResidualStream:
        return OffloadShape::MlpNorm;
    case Qkv:
    case RotatedQk:
    case ValueCopy:
    case QkvCopies:
    case LatentQkv:
    case ContextQkv:
    case RingBuffers:
        return OffloadShape::CoreAttention;
    case Context:
    case ContextCopy:
        return OffloadShape::AttentionProjection;
    case PermutedTokens:
    case DispatchedTokens:
    case SortedTokens:
        return hasExperts ? OffloadShape::ExpertInputs : OffloadShape::Others;
    case Fc1Output:
        return hasExperts ? OffloadShape::ExpertActivation : OffloadShape::Others;
    case AttentionScores:
    case AttentionSoftmax:
    case AttentionProbabilities:
    case RepeatedKv:
        return OffloadShape::Scores;
    case DropoutMask: // made by other operations than the linear layers, norms and attention that offer theirs
        return 0;
    default:
        return OffloadShape::Others;
    }
}

/// Of the storages that the modules' inputs are in, the first ones, as far as the share goes; the layer's own input
/// last. Only Megatron-Kwai divides bytes.
void chooseStorages(const OffloadShape& offload, std::int64_t element, bool hasExperts, Tape& tape)
{
    tape.offloaded.clear();
    bool hasNorm = false, hasContext = false;
    for (const Tape::Event& saved : tape.saved) {
        unsigned module = moduleOf(saved.kind, hasExperts);
        hasContext = hasContext || saved.kind == Context;
        if (saved.kind == DropoutMask && !hasContext) {
            module = OffloadShape::Scores;
        }
        if (saved.kind == NormOutput && hasNorm) {
            module = OffloadShape::Others; // what the MLP reads
        }
        hasNorm = hasNorm || saved.kind == NormOutput;
        if ((module & offload.modules) != 0
            && saved.bytes >= leastElements * (saved.kind == DropoutMask ? 1 : element)) {
            tape.offloaded.push_back(saved);
        }
    }
    Tape::Event input = tape.storages[Tape::input];
    input.slot = Tape::input;
    if ((offload.modules & OffloadShape::AttentionNorm) != 0 && input.bytes > 0) {
        tape.offloaded.push_back(input);
    }
    if (!offload.isByChunk) {
        return;
    }
    std::int64_t left = 0;
    for (const Tape::Event& storage : tape.offloaded) {
        left += storage.bytes;
    }
    left = static_cast<std::int64_t>(std::llround(static_cast<double>(left) * offload.fraction)) & ~std::int64_t{511};
    for (Tape::Event& storage : tape.offloaded) {
        storage.bytes = std::min(storage.bytes, left);
        left -= storage.bytes;
    }
    std::erase_if(tape.offloaded, [](const Tape::Event& storage) { return storage.bytes == 0; });
}

std::int64_t offloadedBytes(const Tape& tape)
{
    std::int64_t bytes = 0;
    for (const Tape::Event& storage : tape.offloaded) {
        bytes += storage.bytes;
    }
    return bytes;
}

class Offloading
{
public:
    Offloading(const std::vector<LayerPiece>& layers, ModelProgram& program)
        : m_layers(layers)
        , m_program(program)
        , m_offload(program.shape.offload)
    {
    }

    void run()
    {
        for (const LayerPiece& layer : m_layers) {
            chooseStorages(m_offload, m_program.shape.element, layer.hasExperts, m_program.pieces[layer.piece].tape);
        }
        std::int64_t largest = 0;
        for (StageProgram& stage : m_program.stages) {
            const auto hasLayers = [this](const Chunk& chunk) {
                return std::any_of(chunk.runs.begin(), chunk.runs.end(),
                                   [this](const PieceRun& run) { return isLayer(run); });
            };
            // Behind the last chunk with layers there may be one with the loss alone.
            const auto last = std::find_if(stage.chunks.rbegin(), stage.chunks.rend(), hasLayers);
            for (Chunk& chunk : stage.chunks) {
                largest = std::max(largest, choose(chunk, last != stage.chunks.rend() && &chunk == &*last));
            }
        }
        if (m_offload.isByChunk && largest > 0) {
            addBuffers(largest);
        }
    }

private:
    [[nodiscard]] bool isLayer(const PieceRun& run) const
    {
        return run.checkpointGroup == 0
            && std::any_of(m_layers.begin(), m_layers.end(),
                           [&run](const LayerPiece& layer) { return layer.piece == run.piece; });
    }

    /// The last layer of a stage stays, since its backward comes next (Megatron fine_grained_activation_offload.py,
    /// should_bulk_offload). Returns the bytes of the chunk that leave.
    std::int64_t choose(Chunk& chunk, bool isLast) const
    {
        std::int64_t layers = 0, bytes = 0;
        bool isReceived = chunk.receives; // what flows in here is the schedule's
        for (PieceRun& run : chunk.runs) {
            if (isLayer(run)) {
                run.keepsFirstInput = isReceived;
                layers += run.count;
                bytes += run.count * offloadedBytes(m_program.pieces[run.piece].tape);
            }
            isReceived = isReceived && m_program.pieces[run.piece].tape.output == Tape::input;
        }
        chunk.offloadsLater = m_offload.isByChunk;
        if (m_offload.isByChunk) {
            return bytes;
        }
        const std::int64_t most = std::max<std::int64_t>(layers - (isLast ? 1 : 0), 0);
        std::int64_t left = m_offload.layers < 0 ? most : std::clamp<std::int64_t>(m_offload.layers, 0, most);
        left = static_cast<std::int64_t>(std::floor(static_cast<double>(left) * m_offload.fraction));
        for (PieceRun& run : chunk.runs) {
            if (isLayer(run)) {
                run.offloaded = std::min(run.count, left);
                left -= run.offloaded;
            }
        }
        return bytes;
    }

    /// Two buffers for what comes back, of one chunk each: the one at work and the next one (Megatron-Kwai
    /// core/pipeline_parallel/offload.py). They stay.
    void addBuffers(std::int64_t bytes)
    {
        for (const LayerPiece& layer : m_layers) {
            Tape& tape = m_program.pieces[layer.piece].tape;
            for (std::uint64_t buffer = 2; buffer-- > 0;) {
                const Tape::Event event{bytes, Tape::Op::Ensure, OffloadBuffer,
                                        m_program.persistents.find(firstBufferKey + buffer, OffloadBuffer, bytes)};
                tape.backward.insert(tape.backward.begin(), event);
                tape.backwardNeeds.push_back(event);
            }
        }
    }

    const std::vector<LayerPiece>& m_layers;
    ModelProgram& m_program;
    const OffloadShape& m_offload;
};

} // namespace

std::int64_t offloadWindow(const PieceRun& run, std::int64_t piece)
{
    if (run.offloaded >= run.count) {
        return std::min(piece + 1, run.count - 1);
    }
    const std::int64_t each = run.count / run.offloaded, rest = run.count % run.offloaded;
    return each * (piece + 1) - 1 + std::min(piece + 1, rest);
}

std::int64_t piecesAway(const PieceRun& run, std::int64_t piece)
{
    std::int64_t away = 0;
    while (away < run.offloaded && offloadWindow(run, away) < piece) {
        ++away;
    }
    return away;
}

void offloadActivations(const std::vector<LayerPiece>& layers, ModelProgram& program)
{
    Offloading(layers, program).run();
}

} // namespace headroom
