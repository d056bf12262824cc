// SPDX-License-Identifier: GPL-3.0-or-later
// What is trained: the groups of a plan that describe the model.
#pragma once

#include "plan/field.h"

namespace headroom {

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
    Flag attnGate; ///< the query projection makes a gate of the attention's result, too
    Flag repeatedPredictor; ///< all multi-token predictions are made by one layer
    Count audioBins; ///< of a spectrogram that an encoder's convolutions read (Whisper)
};

struct MoePlan
{
    Count experts, topk, ffn, sharedFfn, sharedExperts, layerFreq, firstDenseLayers;
    Real capacityFactor;
    Count latent;
    Name dispatcher; ///< allgather (Megatron's default), alltoall, flex or deepep, hybridep
    Flag padToCapacity; ///< every expert gets exactly its capacity of tokens
    Flag groupedGemm, permuteFusion;
    Name routerDtype; ///< fp32, fp64, or that of the parameters
    Flag sharedGate; ///< a gate of one value a token on the shared expert
    Real load; ///< rows this rank's experts get, by those of balanced routing; 1 unless known, between 0.5 and 1.5
};

/// Layers whose mixer is no attention: state spaces (Mamba) or gated delta nets. Which they are is said by
/// ModelPlan::layerPattern or by the members up to attentionOffset.
struct MixerPlan
{
    Name kind; ///< of layers without attention: mamba2, mamba, gated_delta_net
    Names layerTypes; ///< of every layer: mamba, linear_attention, full_attention, …
    Names attentionLayers; ///< or the places of those with attention
    Count attentionEvery, attentionOffset; ///< or one of so many, the last one unless an offset is given
    Count heads, headDim; ///< of values
    Count keyHeads, keyDim; ///< of a delta net
    Count stateDim, groups; ///< of a state space: N, and the groups that share B and C
    Count expand, timeRank; ///< inner width by the model's; rank of Mamba's time step
    Count conv, chunk; ///< width of the causal convolution; tokens that are scanned at once
    Flag convBias;
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
    /// Regular expressions that look for the names transformers gives parameters: what `patterns` finds is frozen. What
    /// `trained` finds is trained, whatever else is said here, and where nothing else is said, it alone.
    Name patterns, trained;
    Count trainedLayers; ///< of the language model: the last so many, the first of a negative number; nothing else
    Names trainedModules; ///< of these layers, self_attn, mlp, …; all when not given
    Real ratio; ///< of all parameters: the first ones, up to this share, are frozen
};

} // namespace headroom
