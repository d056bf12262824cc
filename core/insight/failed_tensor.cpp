// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/failed_tensor.h"

#include "allocator/allocator_sizes.h"
#include "footprint/tape/program.h"
#include "footprint/tape/state.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>

namespace headroom {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// Half of the last of the two decimals that a message has.
std::int64_t toleranceOf(Bytes requested)
{
    return (requested.value >= 1024 * mebibyte ? 1024 * mebibyte : mebibyte) / 200 + 1;
}

class Finder
{
public:
    Finder(Bytes requested, const ModelProgram& program)
        : m_requested(requested)
        , m_program(program)
    {
    }

    void lookAt(const StageProgram& stage)
    {
        m_stage = static_cast<std::size_t>(stage.stage);
        for (const Chunk& chunk : stage.chunks) {
            look(chunk.loaded, Phase::Forward);
            for (const PieceRun& run : chunk.runs) {
                const Tape& tape = m_program.pieces[run.piece].tape;
                look(tape.forward, Phase::Forward);
                if (run.checkpointGroup > 0) {
                    look(tape.forward, Phase::Backward); // built again there
                }
                for (const auto* events : {&tape.backward, &tape.inputBackward, &tape.weights}) {
                    look(*events, Phase::Backward);
                }
            }
        }
        lookAtBoundaries(stage);
        look(stage.tensors.resident, std::nullopt);
        look(stage.tensors.created, Phase::Optimizer);
        look(stage.tensors.temporaries, Phase::Optimizer);
        if (!m_program.hasOwnState) {
            lookAtBuffers(stage);
        }
    }

    std::vector<FailedTensor> found;

private:
    void look(TensorKind kind, std::int64_t bytes, std::optional<Phase> phase)
    {
        const std::int64_t size = blockSize(bytes);
        const FailedTensor tensor{kind, m_stage, phase};
        const bool isKnown = std::any_of(found.begin(), found.end(), [&](const FailedTensor& other) {
            return other.kind == kind && other.phase == phase;
        });
        if (!isKnown && size >= minLargeAlloc // others share a segment
            && std::abs(segmentSize(size) - m_requested.value) <= toleranceOf(m_requested)) {
            found.push_back(tensor);
        }
    }

    void look(const std::vector<Tape::Event>& events, std::optional<Phase> phase)
    {
        for (const Tape::Event& event : events) {
            if (event.op != Tape::Op::Free && event.op != Tape::Op::Defer) {
                look(event.kind, event.bytes, phase);
            }
        }
    }

    void lookAtBoundaries(const StageProgram& stage)
    {
        const std::int64_t bytes = m_program.shape.boundaryBytes();
        for (const Chunk& chunk : stage.chunks) {
            if (chunk.receives) {
                look(TensorKind::Boundary, chunk.receivedBytes > 0 ? chunk.receivedBytes : bytes, Phase::Forward);
            }
            if (chunk.sends) {
                look(TensorKind::Boundary, chunk.sentBytes > 0 ? chunk.sentBytes : bytes, Phase::Backward);
            }
        }
    }

    /// What Megatron keeps in one piece, and what its optimizer makes tensor by tensor.
    void lookAtBuffers(const StageProgram& stage)
    {
        const RankShape& shape = m_program.shape;
        for (const ParameterGroup group : parameterGroups) {
            const std::vector<std::int64_t> tensors = parameterTensors(m_program, stage, group);
            if (tensors.empty()) {
                continue;
            }
            if (shape.isDistributedOptimizer) {
                const std::int64_t padded = paddedElements(shape, tensors, group);
                look(TensorKind::Parameters, padded * shape.element - fp8Savings(shape, tensors), std::nullopt);
                look(TensorKind::Gradients, padded * shape.gradient, std::nullopt);
            } else {
                const std::int64_t elements = std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
                look(TensorKind::Gradients, elements * shape.gradient, std::nullopt);
            }
            for (const std::int64_t elements : tensors) {
                look(TensorKind::Parameters, elements * shape.element, std::nullopt);
            }
            for (const std::int64_t elements : optimizerTensors(shape, tensors, group)) {
                look(TensorKind::Master, elements * shape.master, std::nullopt);
                look(TensorKind::MainGradients, shape.hasMainGradients ? elements * 4 : 0, Phase::Optimizer);
            }
        }
        for (const std::int64_t bytes : momentTensors(m_program, stage)) {
            look(TensorKind::Moments, bytes, Phase::Optimizer);
        }
        for (const std::int64_t bytes : stepTemporaries(m_program, stage)) {
            look(TensorKind::OptimizerTemporary, bytes, Phase::Optimizer);
        }
    }

    const Bytes m_requested;
    const ModelProgram& m_program;
    std::size_t m_stage = 0;
};

} // namespace

Text FailedTensor::text() const
{
    std::vector<std::string> arguments{std::string(nameOf(kind)), std::to_string(stage)};
    if (!phase) {
        return Text{HEADROOM_TR("core", "of this size: %1 (stage %2, before the first step)"), std::move(arguments)};
    }
    arguments.emplace_back(nameOf(*phase));
    return Text{HEADROOM_TR("core", "of this size: %1 (stage %2, %3)"), std::move(arguments)};
}

std::vector<FailedTensor> tensorsOfSize(Bytes requested, const TrainingPlan& plan, std::optional<std::size_t> stage,
                                        std::optional<Phase> phase)
{
    ModelProgram program;
    if (requested.value <= largeBuffer + toleranceOf(requested) || !buildProgram(plan, program)) {
        return {};
    }
    Finder finder(requested, program);
    for (const StageProgram& one : program.stages) {
        if (!stage || static_cast<std::size_t>(one.stage) == *stage) {
            finder.lookAt(one);
        }
    }
    std::vector<FailedTensor>& found = finder.found;
    const auto isElsewhere = [&phase](const FailedTensor& tensor) { return tensor.phase != phase; };
    if (phase && !std::all_of(found.begin(), found.end(), isElsewhere)) {
        std::erase_if(found, isElsewhere);
    }
    return std::move(found);
}

} // namespace headroom
