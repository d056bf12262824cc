// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/elements.h"
#include "footprint/recipe/linear_mixer.h"
#include "plan/layer_pattern.h"
#include "plan/training_plan.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {

/// The language model's dimensions with every default resolved; symbols of theory.md section 0.
struct Architecture
{
    /// Neither heads nor FFN are known: a block is 12h² parameters and nothing else (workflow.md section 2).
    bool isTextbook = false;
    std::int64_t layers = 0, hidden = 0; ///< L, h
    std::int64_t heads = 0, groups = 0, headDim = 0; ///< a, g, d; heads 0: multi-head attention of unknown head size
    std::int64_t ffn = 0;
    std::int64_t gate = 1; ///< G: 2 when the MLP is gated
    std::int64_t vocab = 0; ///< padded for the plan's tensor parallelism
    std::int64_t labels = 0; ///< of a classifier in the place of the output layer; 0: none
    std::int64_t positions = 0; ///< learned ones
    bool tied = true, qkvBias = false, outBias = false, mlpBias = false, qkNorm = false, layerNorm = false;
    bool hiddenDropout = false;
    bool isParallel = false; ///< attention and MLP side by side
    std::int64_t blockNorms = 2; ///< before attention and MLP; side by side they may share one
    bool headBias = false;

    bool isMla = false;
    std::int64_t qLoraRank = 0, kvLoraRank = 0, nopeDim = 0, ropeDim = 0, valueDim = 0; ///< r_q, r_kv, n, r, v

    std::int64_t experts = 0, topk = 0, expertFfn = 0, sharedFfn = 0, latent = 0;
    std::int64_t firstDenseLayers = 0, moeEvery = 1;
    std::int64_t mtpLayers = 0;
    bool attnGate = false, sharedGate = false; ///< gates of attention's result and of the shared expert
    bool repeatsPredictor = false; ///< one layer makes all multi-token predictions

    LinearMixer mixer;
    std::vector<LayerKind> kinds; ///< of a hybrid's layers; empty: attention everywhere
    std::vector<LayerKind> predictorKinds; ///< the layers of a hybrid's multi-token prediction

    [[nodiscard]] bool isHybrid() const { return !kinds.empty(); }

    std::int64_t encoderLayers = 0; ///< of an encoder-decoder model, in front of the `layers` of its decoder
    std::int64_t encoderPositions = 0; ///< of the encoder's own, where it reads sound
    std::int64_t relativePositions = 0; ///< buckets of T5's, a number a head in either half
    std::int64_t audioBins = 0; ///< that two convolutions read in place of an embedding

    [[nodiscard]] bool hasEncoder() const { return encoderLayers > 0; }
    /// Of what experts read.
    [[nodiscard]] std::int64_t routedWidth() const { return latent > 0 ? latent : hidden; }
    [[nodiscard]] bool isMoe() const { return experts > 0; }
    [[nodiscard]] Elements norm() const { return Elements(layerNorm ? 2 : 1) * hidden; }
    [[nodiscard]] LayerKind kindOf(std::int64_t layer) const;
    /// How many of the layers [first, first + count) have experts.
    [[nodiscard]] std::int64_t moeLayers(std::int64_t first, std::int64_t count) const;
    /// How many of them are of each kind that a hybrid has.
    [[nodiscard]] std::vector<std::pair<LayerKind, std::int64_t>> countKinds(std::int64_t first,
                                                                             std::int64_t count) const;
};

/// The vision encoder; no layers: none.
struct VisionTower
{
    std::int64_t layers = 0, hidden = 0, ffn = 0, gate = 1, heads = 0;
    std::int64_t patch = 0, temporalPatch = 1;
    std::int64_t tokens = 0; ///< per image inside the tower, class token included; 0: not known
    std::int64_t images = 1; ///< per sample, tiles counted
    std::int64_t positions = 0; ///< rows of its learned positions; of every tile of every shape where it tiles images
    std::int64_t extraNorms = 0;
    bool classToken = false, learnedPositions = false, patchBias = false, qkvBias = true, layerNorm = true;

    [[nodiscard]] bool isPresent() const { return layers > 0; }
    [[nodiscard]] Elements norm() const { return Elements(layerNorm ? 2 : 1) * hidden; }
};

/// What carries image features into the language model.
struct Projector
{
    enum class Kind : std::uint8_t {
        None,
        Linear,
        Mlp,
        PatchMerger,
        PixelShuffle,
        Resampler,
        Perceiver ///< a gated MLP, then grouped cross-attention of learned queries (Idefics 2)
    };

    Kind kind = Kind::None;
    std::int64_t in = 0, hidden = 0, out = 0, layers = 2;
    std::int64_t merge = 1; ///< m: m × m patches become one token
    std::int64_t deepstack = 0; ///< further mergers that feed inner layers
    std::int64_t tokens = 0; ///< per image, for the language model
};

/// How a plan spreads the model over GPUs; every size is at least 1.
struct Split
{
    std::int64_t tensor = 1, pipeline = 1, chunks = 1, context = 1, expert = 1, expertTensor = 1, data = 1;
    bool sequence = false;
    std::int64_t vocabulary = 1; ///< stages that share the embedding and the output layer

    /// n_sp: what divides tensors between the tensor-parallel regions.
    [[nodiscard]] std::int64_t outside() const { return sequence ? tensor : 1; }
    /// Replicas of an expert weight.
    [[nodiscard]] std::int64_t expertData() const;
};

[[nodiscard]] Architecture architectureOf(const TrainingPlan& plan);
[[nodiscard]] VisionTower visionTowerOf(const TrainingPlan& plan);
/// The encoder's layers are dense layers of their own sizes.
[[nodiscard]] Architecture asModel(const VisionTower& tower);
[[nodiscard]] Projector projectorOf(const TrainingPlan& plan);
[[nodiscard]] Split splitOf(const TrainingPlan& plan);
/// Tokens of a sample that the layers read: of an encoder-decoder model its decoder.
[[nodiscard]] std::int64_t layerSequence(const TrainingPlan& plan);

/// Which parts receive gradients (theory.md 2.5).
struct Trainable
{
    bool language = true, vision = false, projector = false;
    bool adapters = false; ///< LoRA on the language model, whose own weights are then frozen
};
[[nodiscard]] Trainable trainableOf(const TrainingPlan& plan);

} // namespace headroom
