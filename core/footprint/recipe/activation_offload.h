// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/training_plan.h"

#include <cstdint>

namespace headroom {

struct ActivationModel;
struct LayerTensors;
struct StageActivations;

/// What of the activations waits in the host's memory (theory.md 3.9).
struct ActivationOffload
{
    bool isOn = false;
    bool takesInputs = false; ///< those that recomputed layers store
    bool isByChunk = false; ///< a share of every chunk but the one at work (theory_frameworks.md 12)
    bool keepsLast = true; ///< the last layer of a stage, whose backward comes next
    double fraction = 1;
    std::int64_t layers = -1; ///< the first so many; -1: all
};
[[nodiscard]] ActivationOffload activationOffload(const TrainingPlan& plan);
/// Bytes per token of a layer's tensors that leave where all of it does.
[[nodiscard]] double offloadedPerToken(const LayerTensors& layer, const TrainingPlan& plan);
/// Takes off what waits in the host's memory, and adds what is back while backward works on it. `perLayer`: bytes that
/// an average layer offers.
void offloadActivations(const ActivationModel& model, double layers, double perLayer, double chunks,
                        StageActivations& stage);

} // namespace headroom
