// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/torch/modules.h"

#include <cmath>

namespace headroom {

using enum TensorKind;

/// Sequence parallelism: a column-parallel layer reads, and keeps, all tokens of the group.
TorchModules::Tensor TorchModules::gather(Tensor input)
{
    return m_shape.sequenceShards == 1
        ? input
        : m_graph.apply(
            {.kind = GatheredInput, .bytes = m_graph.bytesOf(input) * m_shape.sequenceShards, .reads = {input}});
}

/// Megatron's LinearWithGradAccumulationAndAsyncCommunication keeps this rank's tokens (tensor_parallel/layers.py).
TorchModules::Tensor TorchModules::columnInput(Tensor input)
{
    return m_shape.gathersAgain ? input : gather(input);
}

TorchModules::Tensor TorchModules::scatter(Tensor full)
{
    return m_shape.sequenceShards == 1
        ? full
        : m_graph.apply(
            {.kind = PartialOutput, .bytes = m_graph.bytesOf(full) / m_shape.sequenceShards, .reads = {full}});
}

GradientRule torchGradients(const TorchShape& c)
{
    GradientRule rule;
    rule.element = c.gradient;
    rule.shards = c.shards;
    switch (c.sharding) {
    case TorchSharding::Fsdp:
        rule.kind = c.stages > 1 ? GradientRule::Kind::Whole : GradientRule::Kind::Reduce;
        rule.element = c.compute;
        rule.reduced = c.reduced;
        rule.shard = c.accumulatesWhole ? 0 : static_cast<std::int64_t>(c.weight); // of the last micro-batch alone
        rule.isFlat = c.isFirstFsdp;
        break;
    case TorchSharding::Zero2:
    case TorchSharding::Zero3:
        // Stage 3 keeps its share in a buffer from the start (StateWriter), offloaded ones are in the host's memory.
        rule.kind = c.sharding == TorchSharding::Zero3 || c.offloadsOptimizer ? GradientRule::Kind::Release
                                                                              : GradientRule::Kind::Partition;
        rule.shard = c.gradient;
        break;
    default:
        rule.kind = c.stepsInBackward ? GradientRule::Kind::Release : GradientRule::Kind::Keep;
    }
    return rule;
}

double gatheredBytes(const TorchShape& c, const TorchWeights::Tensor& tensor)
{
    const bool isMatrix = tensor.kind == TorchWeights::Kind::Matrix;
    const bool isFloat8 = c.float8.gathers && tensor.isLinear && c.float8.computes(tensor.columns, tensor.rows);
    const double element = isFloat8                 ? 1
        : isMatrix && c.quantises && !c.trainsModel ? c.frozenMatrix
                                                    : static_cast<double>(c.compute);
    return static_cast<double>(tensor.elements()) * element;
}

std::int64_t torchGathered(const TorchShape& c, const TorchWeights& weights)
{
    if (!c.gathers() || (c.stages > 1 && !c.habits.reshardsInPipelines)) {
        return 0; // a pipeline's stage gathers once a step
    }
    double bytes = 0;
    for (const TorchWeights::Tensor& tensor : weights.tensors) {
        bytes += gatheredBytes(c, tensor);
    }
    return std::llround(bytes);
}

void fillTorchParameters(const TorchWeights& weights, Piece& piece)
{
    piece.parameters.clear();
    for (const TorchWeights::Tensor& tensor : weights.tensors) {
        piece.parameters.push_back(tensor.elements());
    }
}

void writeTorchPiece(const TorchShape& shape, const TorchWeights& weights, ModuleGraph& graph,
                     PersistentStorages& persistents, Piece& piece)
{
    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.cublasWorkspace = shape.cublasWorkspace;
    setTorchGathered(shape, weights, options);
    TapeWriter writer(piece.tape, persistents);
    graph.write(options, writer);
    fillTorchParameters(weights, piece);
}

void writeTorchTape(const TorchShape& shape, ModuleGraph& graph, const ModuleGraph::Options& options,
                    PersistentStorages& persistents, Tape& tape)
{
    if (shape.splitsBackward) {
        Tape split;
        TapeWriter writer(split, persistents);
        ModuleGraph(graph).writeSplit(options, writer);
        TapeWriter whole(tape, persistents);
        graph.write(options, whole);
        tape.takeSplitBackward(split);
        return;
    }
    TapeWriter writer(tape, persistents);
    graph.write(options, writer);
}

/// This rank's, of what is gathered.
static std::int64_t ownShare(const TorchShape& c, const TorchWeights& weights)
{
    double bytes = 0;
    for (const TorchWeights::Tensor& tensor : weights.tensors) {
        const bool isTable = tensor.kind == TorchWeights::Kind::Table;
        bytes += gatheredBytes(c, tensor) / static_cast<double>(isTable ? c.tableShards() : c.shards);
    }
    return std::llround(bytes);
}

void setTorchGathered(const TorchShape& c, const TorchWeights& weights, ModuleGraph::Options& options)
{
    options.gathered = torchGathered(c, weights);
    // The first FSDP's collective writes the flat tensor whose views the module reads (torch/distributed/fsdp/
    // _flat_param.py, _all_gather_flat_param), from a copy of the shard in the type of the computation.
    options.gathersInPlace = c.isFirstFsdp;
    options.shardCopy
        = c.isFirstFsdp && c.weight > static_cast<double>(c.compute) && options.gathered > 0 ? ownShare(c, weights) : 0;
    options.gatherBuffer = c.sharding == TorchSharding::Fsdp && c.shards > 1 && !c.isFirstFsdp
        ? options.gathered + options.gathered / c.shards
        : 0;
    options.followingBuffer = options.gatherBuffer; // of blocks like this one
    options.precedingBuffer = !c.isFirstFsdp ? options.gatherBuffer : c.habits.gathersAhead ? options.gathered : 0;
}

ModuleGraph::Options torchBlockOptions(const TorchShape& shape, const TorchWeights& weights)
{
    ModuleGraph::Options options;
    options.gradients = torchGradients(shape);
    options.cublasWorkspace = shape.cublasWorkspace;
    // TRL's PPO asks for all hidden states (trl/trainer/utils.py, forward, from memory).
    options.keepsInput = shape.checkpoints || shape.value == ValueModel::Separate;
    options.offload = shape.checkpoints ? ModuleGraph::Offload::None : shape.offload;
    options.prefetches = true;
    options.keepsGathered = shape.gathers() && !shape.reshards;
    setTorchGathered(shape, weights, options);
    return options;
}

} // namespace headroom
