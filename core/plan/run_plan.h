// SPDX-License-Identifier: GPL-3.0-or-later
// How it is trained: the groups of a plan that a config sets for a run.
#pragma once

#include "plan/field.h"
#include "plan/vocabulary.h"

namespace headroom {

/// Symbols and names as in model_plan.h.
struct BatchPlan
{
    Count micro, accum, global, seq; ///< b, micro-batches per step m, samples per step, s
    Count decoderSeq; ///< of an encoder-decoder model, whose encoder reads seq
    Count tokensPerMicrobatch, tokensPerStep;
    Name rampup;
    Flag packing{false};
};

/// What the run learns, and from what (see objective.h).
struct ObjectivePlan
{
    Name type; ///< pretrain, sft, dpo, kto, orpo, simpo, cpo, rm, ppo, grpo; the next token when not given
    Name reference; ///< none, separate (a frozen copy), adapters_off (the same model without its adapters)
    Name head; ///< lm (the default), classifier
    Count labels; ///< of a classifier
    Name value; ///< of PPO: none, head (beside the output layer), separate (a model that trains with the policy),
                ///< in_turn (one whose step is its own)
    Name reward; ///< of PPO: none, separate (a frozen model), adapters (of the policy's base)
    Count response; ///< tokens that are generated for a sample
    Count rollout; ///< samples that are generated at once
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
    Count encoderPp, encoderTp; ///< pipeline and tensor parallel sizes of an encoder, where not the language model's
    Count vppGroup; ///< micro-batches of a chunk run in a row when interleaving; the pipeline size when not given
    Count vocabTp; ///< ranks of tensor parallelism that split embedding and output layer, where not all of them
    Name vocabSplit; ///< vocabulary over the pipeline stages: variant1, variant2, interlaced; none when not given
};

struct ShardPlan
{
    Count zeroStage{0};
    Flag distOpt{false}, fsdp{false};
    Count fsdpVersion;
    Name strategy, reshardAfterForward;
    Flag syncEachBatch; ///< FSDP reduces the gradients of every micro-batch; as the framework does when not given
    Count distOptInstances;
    Flag wholeTensors{false}; ///< Muon: the distributed optimizer deals tensors to ranks, matrices or not
    Count rank; ///< of those they are dealt to, from 0; the one with most where not known
    Count communicationUnit; ///< elements; Megatron-FSDP gathers half as many ahead. 1e9 when not given
    Count reduceBucket; ///< elements of DeepSpeed's buckets for gradients, all that overlap together
    Flag offloadOptimizer{false};
    Real offloadOptimizerFraction; ///< of ZeRO-3's sub-groups, whole ones, or of Megatron's state
    Count subGroup; ///< elements of ZeRO-3's sub-groups, which step one after the other; 1e9 when not given
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
    Field<DataType> frozen; ///< of weights that are not trained, where not those of params
    Flag doubleQuantised; ///< constants of nf4 weights are quantised in turn; as the framework does when not given
    Flag autocast{false};
    Name fp8;
    Flag fp8Params{false};
    Field<DataType> reduce;
};

struct OptimizerPlan
{
    Name name;
    /// fused, foreach, foreach2 (PyTorch up to 2.0: two lists of temporaries), for-loop, flat; precision-aware
    /// (Megatron: it reads 16-bit gradients as they are, and keeps the lower halves of masters of bf16 weights)
    Name impl;
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

} // namespace headroom
