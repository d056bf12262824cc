// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/estimate.h"
#include "footprint/tape/tensor_kind.h"

#include <array>

namespace headroom {

/// Bytes by kind of tensor at a stage's peak, as the replay finds them.
using PeakTensors = std::array<Bytes, tensorKindCount>;

/// The working behind a stage's exact figures, component by component from the sums of its tapes: `stage` with what
/// each kind of layer keeps, how many there are and how often they are in flight. With `tensors` every component is
/// also split into what fills it at the peak. Empty where no tape describes the plan.
[[nodiscard]] std::vector<Term> explainTapes(const TrainingPlan& plan, const StageFootprint& stage,
                                             const PeakTensors* tensors = nullptr);

} // namespace headroom
