// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/tape/program.h"

namespace headroom {

/// The figures of a stage with its own state (ModelProgram::hasOwnState), counted event by event without an allocator:
/// two steps of as many micro-batches as differ. Blocks that are not state are taken to be as large as the request
/// rounded to 512 bytes.
void countStage(const ModelProgram& program, const StageProgram& stage, StageFootprint& result);

} // namespace headroom
