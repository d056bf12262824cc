// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of Megatron's FSDP while they are whole (core/distributed/fsdp; theory_moe_cp.md B7).
#pragma once

#include "footprint/tape/program.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// A layer is a unit, of which the one at work and those behind it are gathered, as many as half a communication unit
/// takes. What is no layer is gathered from its forward until the step, and has its whole gradients from its backward
/// on. As the shape says, of parameters, gradients or both. `layerPieces`: every kind of layer; they may differ in
/// size.
void gatherUnits(const std::vector<std::uint16_t>& layerPieces, ModelProgram& program);

} // namespace headroom
