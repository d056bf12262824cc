// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/parameters.h"
#include "footprint/recipe/trained_parts.h"
#include "footprint/tape/shape_graphs.h"
#include "footprint/tape/shape_hybrid.h"
#include "footprint/tape/shape_moe.h"
#include "footprint/tape/shape_offload.h"
#include "plan/training_plan.h"
#include "units/problem.h"

#include <cstdint>
#include <string_view>

namespace headroom {

enum class ModelFamily : std::uint8_t { Decoder, Bert, T5 };
enum class AttentionKernel : std::uint8_t {
    Flash, ///< batch-first: copies q, k, v and its result when b > 1
    Fused, ///< cuDNN, works in the model's layout
    Unfused, ///< Transformer Engine with explicit scores
    Local ///< Megatron's own attention with explicit scores
};
enum class FusedLoss : std::uint8_t { None, Native, InPlace };

/// The numbers and facts that tapes are written from: a plan as one rank sees it, divided by its parallel dimensions
/// and completed with the defaults that depend on other values. Symbols of theory.md section 0.
struct RankShape
{
    ModelFamily family = ModelFamily::Decoder;
    AttentionKernel kernel = AttentionKernel::Flash;
    bool isThirdFlash = false; ///< FlashAttention 3, whose backward sums grouped keys' gradients in fp32
    FusedLoss fusedLoss = FusedLoss::None;

    // Model. Heads, groups, ffn and vocab are this rank's share.
    std::int64_t hidden = 0, heads = 0, groups = 0, headDim = 0, ffn = 0, gates = 1, vocab = 0, positions = 0;
    std::int64_t layers = 0, encoderLayers = 0; ///< of the whole model
    std::int64_t predictors = 0; ///< multi-token prediction layers
    std::int64_t rotaryDim = 0; ///< 0: no rotary positions
    bool isTied = false, hasLearnedPositions = false, isRms = true, hasQkNorm = false, isSquaredRelu = false;
    bool hasQkvBias = false, hasAttentionOutputBias = false, hasMlpBias = false, hasBinaryHead = false;
    bool hasHeadBias = false;
    bool hasAttentionDropout = false, hasHiddenDropout = false;

    // Micro-batch.
    std::int64_t microBatch = 1, sequence = 0, decoderSequence = 0; ///< sequences after context parallelism
    std::int64_t fullSequence = 0; ///< before it

    // Parallel.
    std::int64_t tensor = 1, stages = 1, context = 1, chunks = 1, chunkGroup = 1, sequenceShards = 1;
    std::int64_t data = 1, microBatches = 1, optimizerShards = 1;
    bool dealsTensors = false; ///< whole ones to the ranks that share the optimizer's state
    std::int64_t optimizerRank = -1; ///< of those ranks; -1: the one with most
    std::int64_t encoderStages = 0; ///< of the stages: those in front, which an image encoder has to itself
    std::int64_t encoderCopies = 1; ///< of an image encoder on every stage, beside one language model
    Schedule schedule = Schedule::OneForwardOneBackward;
    bool holdsGraphs = false; ///< of a split backward: a chunk's whole graph stays until the weights' gradients
    std::int64_t vocabularyShards = 1; ///< stages that share embedding and output layer
    std::int64_t extraInFlight = 0; ///< micro-batches that every stage of 1F1B holds beyond its own
    bool keepsStageOutputs = false; ///< what was sent on stays until its backward
    bool delaysWeightGradients = false; ///< of the tapes being written: weights' gradients come in a pass of their own

    // Precision: bytes of an element.
    bool orthogonalises = false; ///< Muon: matrices have no second moment
    std::int64_t otherSecondMoment = 4; ///< of tensors that are no matrices
    std::int64_t element = 2, gradient = 4, master = 4, firstMoment = 4, secondMoment = 4;
    double optimizerOnGpu = 1; ///< the rest of master weights and moments lies in the host's memory
    bool usesFp8 = false, hasFp8Parameters = false, scalesFp8ByBlock = false, hasMainGradients = false,
         isDistributedOptimizer = false;
    bool shardsGradients = false, shardsParameters = false; ///< beside the optimizer's state: Megatron's FSDP
    bool movesFrozen = false; ///< that FSDP's buffers of weights take in frozen ones too
    std::int64_t communicationUnit = 0; ///< elements; of that FSDP, where it is told

    // Implementation.
    bool isTransformerEngine = true, fusesWeightGradients = true, keepsPlaceholderGradients = true, fusesRope = true;
    bool fusesMaskedSoftmax = true, hasLoaderMask = true, savesPaddingMask = true;
    bool overlapsTensorParallel = false;
    std::int64_t deferredWgrads = -1; ///< -1: none deferred, 0: all
    std::int64_t cublasWorkspace = 0, gemmWorkspace = 0; ///< bytes
    std::int64_t capability = 9; ///< major version

    // Recompute.
    std::int64_t checkpointGroup = 0; ///< layers stored as one input each time; 0: none
    std::int64_t checkpointedLayers = -1; ///< the first so many of a chunk; -1: all
    Adapters adapters; ///< beside frozen layers
    bool hasAdapterDropout = false;
    bool hasReference = false; ///< a frozen copy of the whole model, in the type of the weights
    std::int64_t labels = 0; ///< of a classifier in the place of the output layer; 0: none
    double checkpointedShare = -1; ///< of a chunk's layers, in place of a number; below 0: none is given
    bool copiesForNorm = false; ///< weights without a master weight, to fp32, when the norm is logged
    bool isFrozen = false; ///< the weights of the layers written from this shape are not trained
    TrainedParts parts; ///< where some are frozen by name, layer or share
    std::uint32_t trained = TrainedParts::all; ///< of the layer at hand, or of what is around the layers
    bool recomputesAttention = false, recomputesMlp = false, recomputesNorms = false;
    bool recomputesActivation = false; ///< of a dense MLP
    /// Megatron-Kwai: q, k and v stay packed beside the rotated copies; norms are not part of the product behind them,
    /// so that they are rebuilt alone, and rotations with them. Of early 2024: no unused gradients are cached, and
    /// parameters do not move into a buffer (its runs peak below 8 bytes a parameter).
    bool isKwai = false;

    GraphShape graphs;
    OffloadShape offload;
    ExpertShape experts;
    LatentShape latentAttention;
    ContextShape contextShape;
    HybridShape hybrid;

    [[nodiscard]] bool hasAdapter(unsigned targets) const
    {
        return adapters.rank > 0 && (adapters.targets & targets) != 0;
    }
    /// Whether any of the parts, which are one weight, is trained.
    [[nodiscard]] bool trains(std::uint32_t one) const { return !isFrozen && !leavesOut(one); }
    [[nodiscard]] bool leavesOut(std::uint32_t one) const { return (trained & one) == 0; }
    /// Tokens of a micro-batch on this rank, before sequence parallelism.
    [[nodiscard]] std::int64_t tokens() const { return microBatch * sequence; }
    [[nodiscard]] std::int64_t localTokens() const { return tokens() / sequenceShards; }
    /// Of a chunk with so many layers, how many of the first ones.
    [[nodiscard]] std::int64_t checkpointedOf(std::int64_t chunkLayers) const;
    [[nodiscard]] std::int64_t languageStages() const { return stages - encoderStages; }
    /// Neither flash attention nor cuDNN takes head sizes that are no multiple of 8 (Transformer Engine,
    /// get_attention_backend): scores are explicit then.
    void requireKernel();
    /// Bytes of one boundary tensor between stages of the language model, U.
    [[nodiscard]] std::int64_t boundaryBytes() const { return localTokens() * hidden * element; }
    /// The model's states and those of its predictions, in one tensor.
    [[nodiscard]] std::int64_t predictedBytes() const { return (1 + predictors) * boundaryBytes(); }
};

/// The profile whose tapes describe the plan: "megatron-te", "megatron-local", "megatron-kwai"; empty when none
/// does.
[[nodiscard]] std::string_view profileOf(const TrainingPlan& plan);

/// Major version: stated, or from the device's name; a current training GPU's otherwise.
[[nodiscard]] std::int64_t computeCapability(const HardwarePlan& hardware);
/// One of PyTorch's cuBLAS workspaces: stated, or the GPU's default.
[[nodiscard]] std::int64_t cublasWorkspaceBytes(const TrainingPlan& plan);

/// Fails with the missing or impossible value named, also when no profile describes the plan.
[[nodiscard]] Result<void> readRankShape(const TrainingPlan& plan, RankShape& shape);

} // namespace headroom
