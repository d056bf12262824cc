// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/architecture.h"
#include "footprint/recipe/parameters.h"
#include "footprint/recipe/state.h"
#include "footprint/recipe/trained_parts.h"
#include "footprint/torch/float8.h"
#include "footprint/torch/graph.h"
#include "footprint/torch/habits.h"
#include "plan/objective.h"

#include <algorithm>
#include <cstdint>

namespace headroom {

/// A plan as one rank of such a framework sees it.
struct TorchShape
{
    /// What a checkpoint may wrap within a block.
    enum Module : std::uint8_t {
        CoreAttention = 1, ///< from queries, keys and values to their result
        SelfAttention = 2, ///< with its projections
        Mlp = 4, ///< of a dense layer, or the shared expert
        Norms = 8, ///< of the block's stream
        Experts = 16, ///< with their router
        MlpActivation = 32,
        ExpertActivation = 64
    };
    TorchHabits habits;
    Architecture model; ///< of the whole model
    std::int64_t sequences = 1; ///< of a micro-batch
    std::int64_t tokens = 0; ///< of a micro-batch on this rank, before sequence parallelism
    std::int64_t keys = 0; ///< sequence length a query sees
    std::int64_t memoryTokens = 0, memoryKeys = 0; ///< the same of an encoder-decoder model's encoder; 0: none
    bool hasHiddenDropout = false, hasAttentionDropout = false;
    std::int64_t tensor = 1, context = 1, sequenceShards = 1, shards = 1;
    LinearMixer mixer; ///< this rank's share of a hybrid's mixers
    std::int64_t tableRanks = 1, outputRanks = 1; ///< of tensor parallelism that split embedding and output layer
    bool spreadsTables = false; ///< its ranks share their tokens instead, and their state
    std::int64_t expertRanks = 1, expertTensor = 1; ///< ep, etp
    std::int64_t expertTokenShards = 1; ///< ranks of tensor parallelism that send tokens of their own to experts
    double load = 1; ///< rows that reach this rank's experts, by those of balanced routing
    std::int64_t stages = 1, chunks = 1; ///< stages of an image encoder's own among them
    bool splitsBackward = false; ///< the schedule computes gradients of weights apart
    std::int64_t encoderStages = 0; ///< of the stages: those in front, which an image encoder has to itself
    std::int64_t encoderCopies = 1, encoderTensor = 1; ///< beside one language model; ranks that split one
    bool gathersAgain = false; ///< what column-parallel layers read, into one buffer of all layers
    bool isCompiled = false, hasFusedNorm = false, hasFusedGate = false, repeatsKv = true;
    bool hasExplicitScores = false, rotates = true;
    bool trainsImages = false; ///< gradients reach the features of images
    bool reshards = true; ///< gathered weights are dropped after the forward
    bool isFirstFsdp = false; ///< a unit's weights are views of one flat tensor
    bool accumulatesWhole = false; ///< of several micro-batches whole gradients stay until the last one's are reduced
    bool returnsLogits = false; ///< in fp32, beside the log-probabilities taken of them, until the loss is there
    ReferenceModel reference = ReferenceModel::None;
    bool comparesInStep = false; ///< the reference's forward follows the trained model's
    ValueModel value = ValueModel::None;
    RewardModel reward = RewardModel::None;
    double responseShare = 1; ///< of the tokens: those that were generated
    LossPath loss = LossPath::Upcast;
    bool isLossCompiled = false;
    bool keepsLogits = false; ///< the 16-bit logits stay referenced during backward
    std::int64_t lossChunks = 8;
    TorchSharding sharding = TorchSharding::None;
    bool gathersHeadAlone = false; ///< embedding and output layer are groups of their own, not the root's
    OptimizerKind optimizer = OptimizerKind::Adam;
    StepImplementation step = StepImplementation::Foreach;
    bool clipsInFp32 = false;
    bool stepsInBackward = false;

    bool trainsModel = true, trainsEmbeddings = true, quantises = false, castsWeights = false;
    bool castsFrozen = false; ///< autocast does, of weights that are not trained
    TrainedParts parts; ///< where some are frozen by name, layer or share
    std::uint32_t trained = TrainedParts::all; ///< of the block at hand, and of what is around the blocks
    bool unpacksWeights = false; ///< quantised ones become a tensor that autograd sees (GPTQ)
    Adapters adapters;
    bool adaptsPackedQkv = false; ///< one adapter for q, k and v together: c_attn, qkv_proj, …
    std::int64_t adapterElement = 4, adapterCompute = 4; ///< bytes of its weights, and of what it computes
    bool hasAdapterDropout = false;
    std::int64_t adapterSlots = 1; ///< of which one trains (prime-rl)
    bool offloadsParameters = false, offloadsOptimizer = false;
    double offloadedSubGroups = 1; ///< of ZeRO-3's, the share that is in the host's memory
    double subGroup = 1e9; ///< elements of one

    // Bytes of an element.
    std::int64_t compute = 2, gradient = 2, reduced = 4;
    double weight = 2, frozen = 2, frozenMatrix = 2, master = 4, moments = 8, adapterMoments = 8;
    double otherMoments = 8; ///< of tables and vectors
    std::int64_t reduceBucket = 0; ///< elements, 0: not known
    double factored = 0; ///< per row and column
    double smallMoments = 0; ///< of tensors too small for 8-bit states; 0: as of the others

    std::int64_t recomputedLayers = -1; ///< the first so many of a chunk; -1: all
    double recomputedShare = -1; ///< of a chunk's layers, in place of a number; below 0: none is given
    bool checkpointsVision = false;
    bool checkpoints = false, storesSelectively = false, offloadsInputs = false;
    std::uint8_t rebuilt = 0; ///< modules that are checkpoints of their own
    bool storesAttention = false; ///< the selective policy lists the kernel that runs
    ModuleGraph::Offload offload = ModuleGraph::Offload::None; ///< of what the blocks save
    std::int64_t cublasWorkspace = 0;
    std::int64_t normElement = 2; ///< bytes of what a norm in Python multiplies by its weight
    std::int64_t processors = 132; ///< multiprocessors of the GPU
    TorchFloat8 float8;

    [[nodiscard]] bool isDeepSpeed() const
    {
        return sharding == TorchSharding::Zero1 || sharding == TorchSharding::Zero2 || sharding == TorchSharding::Zero3;
    }
    /// Of DeepSpeed's bucket for gradients; 0 elsewhere.
    [[nodiscard]] std::int64_t bucketBytes() const;
    /// Rows of the output layer or of the classifier in its place.
    [[nodiscard]] std::int64_t outputs() const { return model.labels > 0 ? model.labels : model.vocab / outputRanks; }
    [[nodiscard]] bool gathersOutputs() const { return habits.gathersLogits && outputRanks > 1 && model.labels == 0; }
    [[nodiscard]] std::int64_t localTokens() const { return tokens / sequenceShards; }
    /// Of the output layer.
    [[nodiscard]] std::int64_t headTokens() const { return spreadsTables ? tokens / tensor : tokens; }
    /// Ranks that share state and gradients of embedding and output layer.
    [[nodiscard]] std::int64_t tableShards() const { return spreadsTables ? shards * tensor : shards; }
    /// Ranks that share state and gradients of an expert.
    [[nodiscard]] std::int64_t expertShards() const
    {
        return std::max<std::int64_t>(shards * tensor / (expertRanks * expertTensor), 1);
    }
    [[nodiscard]] std::int64_t streamBytes() const { return localTokens() * model.hidden * compute; }
    /// What the encoder hands to all of the decoder's layers.
    [[nodiscard]] std::int64_t memoryBytes() const { return memoryTokens * model.hidden * compute; }
    /// What a model in front of this one has made for later: an encoder, or a value model for each token.
    [[nodiscard]] std::int64_t besideBytes() const
    {
        return memoryBytes() + (value == ValueModel::Separate ? tokens * compute : 0);
    }
    /// Of a chunk's layers.
    [[nodiscard]] std::int64_t recomputedOf(std::int64_t layers) const;
    /// Rows that this rank's experts work on.
    [[nodiscard]] std::int64_t expertRows() const;
    [[nodiscard]] bool gathers() const { return sharding == TorchSharding::Zero3 || sharding == TorchSharding::Fsdp; }
    /// Of the model's own weights, adapters aside.
    [[nodiscard]] bool trains(TrainedParts::Part part) const { return trainsModel && (trained & part) != 0; }
    [[nodiscard]] bool trainsTable() const { return trainsEmbeddings && (trained & TrainedParts::Table) != 0; }
    [[nodiscard]] bool quantisesHead() const { return quantises && habits.quantisesHead && !trainsHead(); }
    /// While a product with a packed weight runs.
    [[nodiscard]] std::int64_t unpackedBytes(std::int64_t elements) const
    {
        return elements * compute * habits.unpackedCopies;
    }
    [[nodiscard]] bool trainsHead() const { return trainsEmbeddings && (trained & TrainedParts::Head) != 0; }
    /// Gradients reach what the first block reads.
    [[nodiscard]] bool reachesEmbedding() const { return parts.isAll() || trainsTable() || trainsImages; }
    [[nodiscard]] bool hasAdapter(Adapters::Target target) const
    {
        return adapters.rank > 0 && (adapters.targets & target) != 0;
    }
};

/// Whether FSDP is PyTorch's first, by its stated version or as the framework has it.
[[nodiscard]] bool usesFirstFsdp(const TrainingPlan& plan, const TorchHabits& habits);
/// Whether FSDP leaves the gradients of all micro-batches but the last whole (no_sync). Frameworks with loops of their
/// own around transformers' models reduce every one's (OLMo olmo/train.py, verl workers/actor/dp_actor.py), as
/// accelerate does where sync_each_batch is set (accelerator.py, _do_sync, from memory).
[[nodiscard]] bool accumulatesWhole(const TrainingPlan& plan, const TorchHabits& habits);
/// Fails with what is missing or what these tapes do not describe.
[[nodiscard]] Result<TorchShape> torchShape(const TrainingPlan& plan, const TorchHabits& habits);

} // namespace headroom
