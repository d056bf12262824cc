// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/architecture.h"

#include <array>
#include <utility>
#include <vector>

namespace headroom {

/// Weights of one part of the model on one GPU, by what the optimizers treat differently.
struct Weights
{
    Elements matrices; ///< linear layers inside blocks
    Elements tables; ///< embeddings, output layer, learned positions
    Elements vectors; ///< norms and biases
    Elements factors; ///< rows + columns of every matrix and table: the state Adafactor keeps instead of a moment
    Elements adapters; ///< LoRA

    [[nodiscard]] Elements total() const { return matrices + tables + vectors + adapters; }
    Weights& operator+=(const Weights& other);
    [[nodiscard]] Weights times(std::int64_t count) const;
};

/// What each GPU of a stage holds.
struct StageWeights
{
    Weights language; ///< embedding, head and everything of the layers that is not a routed expert
    Weights experts; ///< routed experts: sharded over other replicas than the rest (theory.md 1.7)
    Weights vision, projector;

    [[nodiscard]] Elements total() const
    {
        return language.total() + experts.total() + vision.total() + projector.total();
    }
};

/// LoRA adapters: r·(in + out) for each adapted linear layer (theory.md 2.1).
struct Adapters
{
    enum Target : std::uint8_t { Query = 1, Key = 2, Value = 4, Output = 8, MlpIn = 16, MlpOut = 32, Other = 64 };

    std::int64_t rank = 0; ///< 0: none
    unsigned targets = Query | Key | Value | Output | MlpIn | MlpOut;
    bool packsQkv = false, packsGate = false; ///< q, k, v (gate and up) are one linear layer with one adapter
};
/// Module names as Hugging Face and Megatron-LM have them; every linear layer of a block when none is named.
[[nodiscard]] Adapters adaptersOf(const TrainingPlan& plan);

/// The parts of a model as one GPU holds them after tensor and expert parallelism (theory.md 1.1 to 1.7).
struct ModelWeights
{
    Weights denseLayer, moeLayer, layerExperts;
    std::vector<std::pair<LayerKind, Weights>> kinds; ///< of a hybrid's layers, routed experts left out
    Weights embedding; ///< with learned positions
    Weights head; ///< final norm, and the output layer where it is a matrix of its own
    Weights tiedHead; ///< the copy of a tied embedding that the last of several stages needs
    Weights everyStage; ///< shares of embedding and output layer where all stages have one
    Weights predictor, predictorEmbedding; ///< multi-token prediction layers and their embedding copy
    Weights visionLayer, visionStem; ///< the stem: patches, positions, norms outside the blocks
    Weights projector;
    std::int64_t visionLayers = 0;
    bool predictorHasExperts = false;
    std::int64_t predictors = 0;

    [[nodiscard]] const Weights* ofKind(LayerKind kind) const; ///< null: no layer is of that kind
    /// The whole encoder.
    [[nodiscard]] Weights vision() const;
};

/// What of the image encoder a GPU holds: `layers` of every `of` of its layers, and its ends.
struct EncoderPart
{
    std::int64_t layers = 0, of = 1;
    bool holdsStem = false, holdsProjector = false;

    [[nodiscard]] static EncoderPart whole() { return {1, 1, true, true}; }
    [[nodiscard]] double layerShare() const { return static_cast<double>(layers) / static_cast<double>(of); }
};

/// The layers of one GPU: two ranges where a schedule folds the pipeline (V schedules, DualPipe).
struct StageLayers
{
    struct Range
    {
        std::int64_t first = 0, count = 0;
    };
    std::array<Range, 2> ranges{};
    bool holdsEmbedding = false, holdsHead = false;
    EncoderPart encoder;

    [[nodiscard]] std::int64_t count() const { return ranges[0].count + ranges[1].count; }
};

[[nodiscard]] ModelWeights weightsPerGpu(const Architecture& model, const VisionTower& vision,
                                         const Projector& projector, const Split& split, const Adapters& adapters = {});
/// `encoderTensor`: ranks that split the encoder's matrices.
[[nodiscard]] ModelWeights weightsPerGpu(const Architecture& model, const VisionTower& vision,
                                         const Projector& projector, const Split& split, std::int64_t encoderTensor,
                                         const Adapters& adapters);

/// The share of one stage; `pipeline` is the number of stages (a tied head is a copy when there are several).
[[nodiscard]] StageWeights stageWeights(const ModelWeights& weights, const Architecture& model,
                                        const StageLayers& layers, std::int64_t pipeline);

/// The whole model, vision and projector included, ties counted once; adapters are not part of it.
[[nodiscard]] std::int64_t modelParameters(const Architecture& model, const VisionTower& vision,
                                           const Projector& projector);

} // namespace headroom
