// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/field.h"
#include "plan/vocabulary.h"

#include <string>
#include <vector>

namespace headroom {

using Count = Field<std::int64_t>;
using Real = Field<double>;
using Flag = Field<bool>;
using Name = Field<std::string>;
using Names = Field<std::vector<std::string>>;

/// Symbols in the comments are those of theory.md section 0. Member names are the canonical names of
/// configs.md section 1.
struct ModelPlan
{
    Name name;
    Count layers, hidden, ffn; ///< L, h, f
    Flag gatedMlp;
    Count heads, kvHeads, headDim; ///< a, g, d
    Count vocab, vocabPadMultiple, paddedVocab, maxPos;
    Flag tiedEmbeddings, attnBias, mlpBias, qkNorm;
    Flag learnedPositions, layerNorm; ///< layerNorm: LayerNorm with bias; false is RMSNorm
    Flag attnOutBias; ///< bias of the output projection, when it differs from attnBias
    Count attnWindow;
    Name layerPattern;
    Count encoderLayers, decoderLayers, mtpLayers;
    Name family; ///< decoder (the default), bert, t5
    Name activation; ///< gelu, swiglu, squared_relu, …; gatedMlp says whether it has a gate
    Flag rope; ///< rotary positions
    Real rotaryFraction; ///< share of the head size that is rotated
    Real attnDropout, hiddenDropout; ///< probabilities; above 0 a mask is kept
    Flag binaryHead; ///< BERT's next-sentence head
    Flag parallelBlock; ///< attention and MLP both read the layer's input, and are added to it together
    Flag sharedNorm; ///< of a parallel block: both read the result of one norm
    Flag headBias; ///< of the output layer
};

struct MoePlan
{
    Count experts, topk, ffn, sharedFfn, sharedExperts, layerFreq, firstDenseLayers;
    Real capacityFactor;
    Count latent;
    Name dispatcher; ///< allgather (Megatron's default), alltoall, flex
    Flag padToCapacity; ///< every expert gets exactly its capacity of tokens
    Flag groupedGemm, permuteFusion;
    Name routerDtype; ///< fp32, fp64, or that of the parameters
    Real load; ///< rows this rank's experts get, by those of balanced routing; 1 unless known, between 0.5 and 1.5
};

struct MlaPlan
{
    Count qLoraRank, kvLoraRank, qkNopeDim, qkRopeDim, vDim;
};

struct VisionPlan
{
    Name type;
    Count layers, hidden, ffn;
    Flag gatedMlp;
    Count heads, imageSize, patch, temporalPatch, merge, tokensPerImage, imagesPerSample, maxTiles, window,
        featureLayer;
    Flag dropCls;
    Count extraLayers, deepstackLayers;
    Flag classToken, learnedPositions, patchBias, qkvBias, layerNorm;
    Count extraNorms; ///< pre- and post-norms outside the blocks
};

struct ProjectorPlan
{
    Name type; ///< mlp, linear, patch_merger, pixel_shuffle, resampler
    Count in, hidden, out, layers;
};

struct FrozenPlan
{
    Flag llm{false}, vision{false}, projector{false}, all{false};
    Names patterns;
};

struct BatchPlan
{
    Count micro, accum, global, seq; ///< b, micro-batches per step m, samples per step, s
    Count decoderSeq; ///< of an encoder-decoder model, whose encoder reads seq
    Count tokensPerMicrobatch, tokensPerStep;
    Name rampup;
    Flag packing{false};
};

struct ParallelPlan
{
    Count world, dp;
    Count dpReplicate, dpShard;
    Count tp{1}, pp{1}, vpp{1}; ///< t, p, v
    Count layersPerVstage;
    Count cp{1}, ep{1}, etp;
    Name cpComm; ///< p2p (the default), all_gather, a2a, a2a+p2p
    Count cpInner; ///< ranks that exchange heads in a2a+p2p; the others form the ring
    Flag sp{false};
    Field<Schedule> schedule{Schedule::OneForwardOneBackward};
    Name layout;
    Count firstStageLayers, lastStageLayers;
    Flag embedInSplit{false}, lossInSplit{false};
    Count ppMicrobatches;
    Name encoderPlacement; ///< of the image encoder: first_stage (the default), own_stages, every_stage
    Count encoderPp, encoderTp; ///< pipeline and tensor parallel sizes of an encoder that has its own
    Count vppGroup; ///< micro-batches of a chunk run in a row when interleaving; the pipeline size when not given
    Name vocabSplit; ///< vocabulary over the pipeline stages: variant1, variant2, interlaced; none when not given
};

struct ShardPlan
{
    Count zeroStage{0};
    Flag distOpt{false}, fsdp{false};
    Count fsdpVersion;
    Name strategy, reshardAfterForward;
    Count distOptInstances;
    Count reduceBucket; ///< elements of DeepSpeed's buckets for gradients, all that overlap together
    Flag offloadOptimizer{false};
    Real offloadOptimizerFraction;
    Flag offloadParams{false}, offloadActivations{false};
    Count offloadActivationLayers; ///< the first so many of a stage; all when not given
    Names offloadActivationModules; ///< whose inputs go, core_attn, attn_norm, …; all when not given
    Real offloadActivationFraction; ///< of what would go; 1 when not given
};

/// Bytes of each part of the static state follow from these (theory.md 2.1); a named recipe sets all five.
struct PrecisionPlan
{
    Name recipe;
    Field<DataType> params, grads, master, optM, optV;
    Flag autocast{false};
    Name fp8;
    Flag fp8Params{false};
    Field<DataType> reduce;
};

struct OptimizerPlan
{
    Name name;
    Name impl; ///< fused, foreach, foreach2 (PyTorch up to 2.0: two lists of temporaries), for-loop, flat
    Flag inBackward{false}; ///< steps within the backward, so that gradients do not accumulate
};

struct RecomputePlan
{
    Flag enabled{false};
    Field<Granularity> granularity{Granularity::None};
    Name method;
    Count numLayers;
    Names modules;
    Real fraction;
    Flag distribute{false}, vision{false}, reentrant;
    Name pattern;
    Flag offloadInputs{false};
};

struct AttentionPlan
{
    Name impl; ///< auto, flash, fused (cuDNN), unfused, local, sdpa, eager
};

/// Which implementation runs and the facts about it that flags do not hold. Everything here changes memory.
struct ImplementationPlan
{
    Name profile; ///< megatron-te, megatron-local, …: which tapes describe the layers
    Name fusedLoss; ///< none, native, te, te-inplace (Transformer Engine up to 2.17), liger, chunked, 16bit (no upcast)
    Flag gradAccumFusion; ///< weight gradients are added to the gradient buffer by the matrix product itself
    Flag placeholderGrads; ///< with that fusion: one unused 16-bit gradient a weight shape stays (since 2025)
    Flag ropeFusion, maskedSoftmaxFusion, swigluFusion;
    Flag loaderMask; ///< the data loader makes a b·s·s attention mask
    Flag savedPaddingMask; ///< unfused attention with padding keeps its mask (Transformer Engine since 2025)
    Flag deterministic, tpCommOverlap, expertCommOverlap;
    Count deferredWgrads; ///< micro-batches whose output layer gradient waits for the end of the step; 0: all
    Count cublasWorkspaceBytes; ///< one workspace; CUBLAS_WORKSPACE_CONFIG or the GPU decides when not given
    Flag compile; ///< torch.compile of the blocks
    Flag compiledLoss; ///< and of the loss
    Count lossChunks; ///< parts that a chunked loss works on one after the other
    Flag keepsLogits; ///< the training loop still refers to the model's output while backward runs
    Flag expandableSegments; ///< PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
    Flag repeatKv; ///< keys and values are expanded to all heads before attention
};

struct LoraPlan
{
    Count rank;
    Names targets; ///< modules with adapters, q_proj …; every linear layer of the blocks when not given
    Count adapterSlots; ///< adapters held at once, of which one is trained
    Field<DataType> adapterType; ///< of the adapters' weights
    Real dropout;
    Flag trainsEmbeddings{false}; ///< copies of embedding and output layer are trained too (modules_to_save)
};

struct HardwarePlan
{
    Name gpu;
    Count capacityBytes; ///< device memory of one GPU
    Count computeCapability; ///< major version: 8 Ampere and Ada, 9 Hopper, 10 Blackwell
};

/// The canonical description of a training run: a plain value, copied, compared and diffed. Copies and moves of its
/// two hundred fields stand in one source file: written inline wherever a plan is copied, they are most of the
/// compiling.
struct TrainingPlan
{
    TrainingPlan();
    TrainingPlan(const TrainingPlan& other);
    TrainingPlan(TrainingPlan&& other) noexcept;
    TrainingPlan& operator=(const TrainingPlan& other);
    TrainingPlan& operator=(TrainingPlan&& other) noexcept;
    ~TrainingPlan();

    Name framework; ///< id of the config format it was read from
    ModelPlan model;
    MoePlan moe;
    MlaPlan mla;
    VisionPlan vision;
    ProjectorPlan projector;
    FrozenPlan frozen;
    BatchPlan batch;
    ParallelPlan parallel;
    ShardPlan shard;
    PrecisionPlan precision;
    OptimizerPlan optimizer;
    RecomputePlan recompute;
    AttentionPlan attention;
    ImplementationPlan implementation;
    LoraPlan lora;
    HardwarePlan hardware;
};

} // namespace headroom
