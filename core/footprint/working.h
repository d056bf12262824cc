// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/recipe/activations.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/parameters.h"
#include "footprint/recipe/state.h"
#include "footprint/recipe/trained_parts.h"
#include "footprint/schedule/schedule.h"
#include "plan/encoder_placement.h"
#include "plan/objective.h"
#include "plan/pipeline_split.h"

namespace headroom {

/// Everything about a plan that all stages share, worked out once; estimate() and explain() read it.
struct Working
{
    Architecture model;
    VisionTower tower;
    Projector projector;
    Split split;
    Trainable trainable;
    TrainedParts parts; ///< of the language model, where some are frozen
    PipelineShape pipeline; ///< with the stages of an encoder that has its own
    ModelWeights weights;
    ValueModel value = ValueModel::None; ///< beside the policy
    RewardModel reward = RewardModel::None;
    Architecture valueModel; ///< of both, where they are models of their own
    ModelWeights valueWeights;
    StateRecipe recipe;
    Sharding sharding;
    ActivationModel activations;
    EncoderPlacement encoder = EncoderPlacement::FirstStage;
    std::int64_t encoderStages = 0; ///< in front of the language model's
    std::int64_t encoderTensor = 1; ///< ranks that split the encoder's matrices
    double imageShare = 1; ///< of a micro-batch's images that one rank encodes
    double imageFeatures = 0; ///< bytes of a micro-batch's features as another stage receives them
    double gatheredElement = 0; ///< bytes of a gathered weight; 0: nothing is gathered
    double reducedElement = 0; ///< and of a gradient while it is reduced
    double wholeGradient = 0; ///< bytes of an element that waits for the last micro-batch unsharded; 0: none does
    bool cachesWeights = false; ///< autocast keeps 16-bit copies of fp32 weights (theory.md 2.1)
};
[[nodiscard]] Working workingOf(const TrainingPlan& plan, const Calibration& calibration);

/// One stage of it, in bytes.
struct StageWorking
{
    StageLayers layers;
    StageWeights weights;
    StateBytes state;
    StageActivations activations; ///< of one micro-batch, without the vision encoder
    double vision = 0; ///< of one micro-batch: encoder, projector, or the features received from them
    InFlight held;
    double weightCache = 0;
    double rebuilt = 0;
    double wholeGradients = 0; ///< until the step
    double gathered = 0,
           gatheredBackward = 0; ///< whole weights, and their gradients, of layers at work (theory.md 2.4)

    [[nodiscard]] double microBatch() const { return activations.kept + vision; }
    /// All micro-batches held at the fullest moment.
    [[nodiscard]] double allActivations() const;
};
[[nodiscard]] StageWorking stageWorking(const Working& working, const PipelineSplit& split, std::int64_t stage);

/// The layers a GPU of this stage holds; those of an encoder on stages of its own are the first ones.
[[nodiscard]] StageLayers stageLayers(const Working& working, const PipelineSplit& split, std::int64_t stage);
/// The same for an encoder on the first stage.
[[nodiscard]] StageLayers stageLayers(const PipelineSplit& split, std::int64_t stage, Schedule schedule);

/// Bytes of the CUDA context. A prior: no dependable public figure exists for current GPUs, 400 to 600 MiB are usual
/// (theory.md 6.1). outsideMemory() has what else is outside the allocator.
inline constexpr Bytes contextPrior = mib(500);

} // namespace headroom
