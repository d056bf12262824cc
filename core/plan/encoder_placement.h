// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>

namespace headroom {

/// Which GPUs hold the image encoder and its projector (theory.md 1.9).
enum class EncoderPlacement : std::uint8_t {
    FirstStage, ///< beside the embedding
    OwnStages, ///< in front of the language model's, on GPUs of their own
    EveryStage ///< a copy on every pipeline stage, which takes its share of the images
};

/// Stated ("first_stage", "own_stages", "every_stage"), or what the encoder's own pipeline size says; the first stage
/// otherwise, and for models without an encoder.
[[nodiscard]] EncoderPlacement encoderPlacement(const TrainingPlan& plan);
/// Pipeline stages in front of the language model's; 0 unless the encoder has its own.
[[nodiscard]] std::int64_t encoderStages(const TrainingPlan& plan);
/// Ranks that split the encoder's matrices: as many as split the language model's, unless stated: 1 where every rank
/// holds it whole.
[[nodiscard]] std::int64_t encoderTensorParallel(const TrainingPlan& plan);
/// Copies of the encoder within one copy of the language model, whose images are dealt out to them: one of every group
/// of ranks that splits it, on every pipeline stage; 1 unless it is placed so.
[[nodiscard]] std::int64_t encoderCopies(const TrainingPlan& plan);
/// GPUs that hold one copy of the model: tp·pp·cp, and the encoder's own tp·pp·cp beside them (Megatron-LM core 0.9,
/// parallel_state.py, initialize_model_parallel).
[[nodiscard]] std::int64_t modelParallelSize(const TrainingPlan& plan);

} // namespace headroom
