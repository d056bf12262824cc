// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/tape/program.h"
#include "footprint/tape/state.h"

#include <cstdint>

namespace headroom {

/// All sizes in the program's tapes as the allocator rounds them with ModelProgram::roundupDivisions, so that both
/// readers see the same.
void roundUpTapes(ModelProgram& program);
/// Adds to a stage's state what its tensors and buffers get so.
void roundUpState(const ModelProgram& program, const StageProgram& stage, StageState& state);
/// Bytes of the stage's trained tensors, each a request of its own.
[[nodiscard]] std::int64_t roundedParameters(const ModelProgram& program, const StageProgram& stage);

} // namespace headroom
