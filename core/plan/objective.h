// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// What a preference loss compares the trained model with (DPO: arXiv:2305.18290, KTO: arXiv:2402.01306).
enum class ReferenceModel : std::uint8_t {
    None,
    Separate, ///< a frozen copy of the whole model
    AdaptersOff ///< the trained model with its adapters switched off
};

/// What tells PPO how much reward is to come (arXiv:1707.06347); it is trained too.
enum class ValueModel : std::uint8_t {
    None,
    Head, ///< a layer beside the output layer
    Separate, ///< a model whose forward and backward run in the policy's
    InTurn ///< a model that trains before the policy does
};
/// What judges the responses.
enum class RewardModel : std::uint8_t {
    None, ///< or on other GPUs
    Separate, ///< a frozen model as large as the policy
    Adapters ///< frozen adapters of its base
};

/// Stated, or what the losses that need one take: the model without its adapters where it has any, else a copy.
[[nodiscard]] ReferenceModel referenceModel(const TrainingPlan& plan);
/// Stated, or what TRL's PPO has: a second model of the policy's size. Elsewhere it may be on other GPUs.
[[nodiscard]] ValueModel valueModel(const TrainingPlan& plan);
[[nodiscard]] RewardModel rewardModel(const TrainingPlan& plan);
/// Whether the loss makes the policy's logits, and a value for each of its tokens beside them.
[[nodiscard]] bool trainsPolicyWithValue(const TrainingPlan& plan);
/// Whether the reference's log-probabilities are taken beside the trained model's, not when responses were generated.
[[nodiscard]] bool comparesInStep(const TrainingPlan& plan);
/// Sequences that a sample of the batch puts through the model at once: a pair of a chosen and a rejected one for DPO,
/// ORPO, SimPO, CPO and reward models; else 1. 1 for packed rows too, which are filled with both.
[[nodiscard]] std::int64_t sequencesPerSample(const TrainingPlan& plan);
/// Sequences of a micro-batch, at least 1; where it is stated, without overflow.
[[nodiscard]] std::int64_t sequencesPerMicroBatch(const TrainingPlan& plan);
/// Whether the loss is made of the labels' log-probabilities.
[[nodiscard]] bool takesLogProbabilities(const TrainingPlan& plan);
/// Classes that a classifier stands for in the place of the output layer (a reward model: 1); none: a language model.
[[nodiscard]] std::optional<std::int64_t> classifierLabels(const TrainingPlan& plan);

/// Whether these words mean anything.
[[nodiscard]] bool isObjective(std::string_view type);
[[nodiscard]] bool isReference(std::string_view reference);
[[nodiscard]] bool isHead(std::string_view head);
[[nodiscard]] bool isValue(std::string_view value);
[[nodiscard]] bool isReward(std::string_view reward);

} // namespace headroom
