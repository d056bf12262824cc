// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/tape/round_up.h"

#include "allocator/allocator_sizes.h"

#include <numeric>

namespace headroom {

namespace {

class Rounder
{
public:
    explicit Rounder(std::int64_t divisions)
        : m_divisions(divisions)
    {
    }

    void round(std::vector<Tape::Event>& events) const
    {
        for (Tape::Event& event : events) {
            round(event.bytes);
        }
    }

    void round(std::int64_t& bytes) const { bytes = bytes > 0 ? blockSize(bytes, m_divisions) : bytes; }

    void round(Tape& tape) const
    {
        for (auto* events :
             {&tape.forward, &tape.backward, &tape.inputBackward, &tape.weights, &tape.storages, &tape.forwardNeeds,
              &tape.backwardNeeds, &tape.inputBackwardNeeds, &tape.weightNeeds, &tape.saved, &tape.offloaded}) {
            round(*events);
        }
        round(tape.outputBytes);
    }

private:
    std::int64_t m_divisions;
};

} // namespace

void roundUpTapes(ModelProgram& program)
{
    const Rounder rounder(program.roundupDivisions);
    for (Piece& piece : program.pieces) {
        rounder.round(piece.tape);
    }
    for (PersistentStorages::Storage& storage : program.persistents.all) {
        rounder.round(storage.bytes);
    }
    for (StageProgram& stage : program.stages) {
        StageTensors& tensors = stage.tensors;
        for (auto* events :
             {&tensors.resident, &tensors.created, &tensors.clipping, &tensors.temporaries, &tensors.rollout}) {
            rounder.round(*events);
        }
        for (Chunk& chunk : stage.chunks) {
            rounder.round(chunk.loaded);
            for (std::int64_t* boundary : {&chunk.receivedBytes, &chunk.sentBytes}) {
                *boundary = *boundary > 0 ? *boundary : program.shape.boundaryBytes();
                rounder.round(*boundary);
            }
        }
    }
}

void roundUpState(const ModelProgram& program, const StageProgram& stage, StageState& state)
{
    const RankShape& shape = program.shape;
    const auto added
        = [&](std::int64_t bytes) { return blockSize(bytes, program.roundupDivisions) - blockSize(bytes); };
    const auto sum = [&](const std::vector<std::int64_t>& sizes, std::int64_t element) {
        return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0},
                               [&](std::int64_t all, std::int64_t size) { return all + added(size * element); });
    };
    for (const ParameterGroup group : parameterGroups) {
        const std::vector<std::int64_t> parameters = parameterTensors(program, stage, group);
        if (parameters.empty()) {
            continue;
        }
        const std::int64_t padded = paddedElements(shape, parameters, group);
        const std::int64_t elements = std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0});
        const std::int64_t weights = padded * shape.element - fp8Savings(shape, parameters);
        state.parameters += shape.isDistributedOptimizer ? added(weights / parameterShards(shape, group))
                                                         : sum(parameters, shape.element);
        state.gradients += added((shape.isDistributedOptimizer ? padded : elements) * shape.gradient
                                 / gradientShards(shape, group));
        state.master += sum(optimizerTensors(shape, parameters, group), shape.master);
    }
    state.moments += sum(momentTensors(program, stage), 1);
    const std::int64_t reference = sum(referenceTensors(program, stage), shape.element);
    state.reference += reference;
    state.parameters += reference + sum(frozenStorages(program, stage), 1);
}

std::int64_t roundedParameters(const ModelProgram& program, const StageProgram& stage)
{
    std::int64_t bytes = 0;
    for (const std::int64_t elements : movingTensors(program, stage)) {
        bytes += blockSize(elements * program.shape.element, program.roundupDivisions);
    }
    return bytes;
}

} // namespace headroom
