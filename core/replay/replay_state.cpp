// SPDX-License-Identifier: GPL-3.0-or-later
// What is there before the first step, and what the optimizer's step allocates.
#include "replay/replay_reader.h"

#include "footprint/tape/graph_inputs.h"

#include <numeric>

namespace headroom {

void ReplayReader::construct()
{
    if (m_program.hasOwnState) {
        for (const Tape::Event& tensor : m_stage.tensors.resident) {
            static_cast<void>(allocate(tensor.kind, tensor.bytes));
        }
    } else {
        constructMegatron();
        for (const std::int64_t bytes : graphInputs(m_program, m_stage)) {
            static_cast<void>(allocate(TensorKind::GraphInput, bytes));
        }
    }
}

void ReplayReader::constructMegatron()
{
    const RankShape& shape = m_program.shape;
    for (const std::int64_t bytes : frozenStorages(m_program, m_stage)) {
        static_cast<void>(allocate(TensorKind::Parameters, bytes));
    }
    for (const std::int64_t copy : fp8WeightCopies(m_program, m_stage)) {
        static_cast<void>(allocate(TensorKind::Parameters, copy));
    }
    std::vector<Handle> tensors;
    const bool isInPlace = shape.isDistributedOptimizer && shape.isKwai; // there at once
    for (const std::int64_t elements : isInPlace ? std::vector<std::int64_t>{} : movingTensors(m_program, m_stage)) {
        tensors.push_back(allocate(TensorKind::Parameters, elements * shape.element));
    }
    for (const ParameterGroup group : parameterGroups) {
        constructBuffers(parameterTensors(m_program, m_stage, group), group);
    }
    if (shape.isDistributedOptimizer) {
        for (Handle& tensor : tensors) {
            free(tensor);
        }
    }
    for (const std::int64_t elements : referenceTensors(m_program, m_stage)) {
        static_cast<void>(allocate(TensorKind::ReferenceParameters, elements * shape.element));
    }
    if (shape.master > 0) {
        for (const std::int64_t elements : m_optimizerTensors) {
            Handle cast = allocate(TensorKind::Cast, elements * shape.element);
            static_cast<void>(allocate(TensorKind::Master, elements * shape.master));
            free(cast);
        }
    }
}

void ReplayReader::constructBuffers(const std::vector<std::int64_t>& parameters, ParameterGroup group)
{
    const RankShape& shape = m_program.shape;
    if (parameters.empty()) {
        return;
    }
    if (shape.isDistributedOptimizer) {
        // The tensors move into one contiguous buffer.
        const std::int64_t padded = paddedElements(shape, parameters, group);
        const std::int64_t bytes = padded * shape.element - fp8Savings(shape, parameters);
        static_cast<void>(allocate(TensorKind::Parameters, bytes / parameterShards(shape, group)));
        static_cast<void>(allocate(TensorKind::Gradients, padded * shape.gradient / gradientShards(shape, group)));
    } else {
        const std::int64_t elements = std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0});
        static_cast<void>(allocate(TensorKind::Gradients, elements * shape.gradient));
    }
    const std::vector<std::int64_t> shards = optimizerTensors(shape, parameters, group);
    m_optimizerTensors.insert(m_optimizerTensors.end(), shards.begin(), shards.end());
}

void ReplayReader::playTogether(const std::vector<Tape::Event>& tensors)
{
    std::vector<Handle> handles;
    for (const Tape::Event& tensor : tensors) {
        handles.push_back(allocate(tensor.kind, tensor.bytes));
    }
    for (Handle& handle : handles) {
        free(handle);
    }
}

/// The state appears tensor by tensor, then the update runs, then gradients are set to none.
void ReplayReader::stepTorch()
{
    playTogether(m_stage.tensors.clipping);
    if (m_stage.tensors.dropsGradients) {
        dropGradients();
    }
    for (const Tape::Event& tensor : m_stage.tensors.created) {
        if (!m_hasMoments) {
            static_cast<void>(allocate(tensor.kind, tensor.bytes));
        }
    }
    playTogether(m_stage.tensors.temporaries);
    dropGradients();
}

void ReplayReader::dropGradients()
{
    for (auto& [key, gradient] : m_gradients) {
        free(gradient);
    }
    m_gradients.clear();
}

void ReplayReader::stepMegatron()
{
    const RankShape& shape = m_program.shape;
    if (shape.hasMainGradients) {
        for (const std::int64_t elements : m_optimizerTensors) {
            m_mainGradients.push_back(allocate(TensorKind::MainGradients, elements * 4));
        }
    }
    if (!m_hasMoments) {
        for (const std::int64_t bytes : momentTensors(m_program, m_stage)) {
            static_cast<void>(allocate(TensorKind::Moments, bytes));
        }
    }
    std::vector<Handle> temporaries;
    for (const std::int64_t bytes : stepTemporaries(m_program, m_stage)) {
        temporaries.push_back(allocate(TensorKind::OptimizerTemporary, bytes));
    }
    for (Handle& tensor : temporaries) {
        free(tensor);
    }
}

} // namespace headroom
