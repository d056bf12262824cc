// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

#include <string_view>

namespace headroom {

/// GPT models of Megatron-LM up to 2.4 ("megatron-2.4") and of the pipeline engine of Megatron-DeepSpeed
/// ("deepspeed-pipeline"): explicit scores with dropout, tensor parallelism without sequence parallelism, weight
/// gradients that appear in backward.
[[nodiscard]] bool isGptPipeline(std::string_view profile);
[[nodiscard]] Result<void> buildGptPipeline(const TrainingPlan& plan, std::string_view profile, ModelProgram& program);
/// Static state and step of a stage whose chunks are filled; `isPlain`: without DeepSpeed.
[[nodiscard]] StageTensors gptPipelineState(const TrainingPlan& plan, bool isPlain, const ModelProgram& program,
                                            const StageProgram& stage);

} // namespace headroom
