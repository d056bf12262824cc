// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"

namespace headroom {

/// What every pipeline stage of Megatron-LM runs: dense models, experts, hybrids, T5 and BERT, image encoders.
[[nodiscard]] Result<void> buildMegatronProgram(const TrainingPlan& plan, ModelProgram& program);

} // namespace headroom
