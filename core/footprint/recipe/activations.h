// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/footprint.h"
#include "footprint/recipe/activation_offload.h"
#include "footprint/recipe/architecture.h"
#include "footprint/recipe/recompute.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {

/// What recomputing does to one layer.
struct LayerBytes
{
    double whole = 0; ///< per token, nothing recomputed
    double kept = 0; ///< per token, after the named modules are recomputed
    double offloaded = 0; ///< of them, what may wait in the host's memory

    LayerBytes& operator*=(double scale);
    void add(const LayerBytes& other, double share);
};

/// The working of the activations of one model on one GPU.
struct ActivationModel
{
    double tokens = 0; ///< T of one micro-batch on one GPU: b·s/cp
    double theoryK = 0; ///< k of a whole layer at t = 1 by the table, averaged over the layers
    double k = 0; ///< the same after calibration
    double effectiveK = 0; ///< what recomputation leaves of it: 1 where only layer inputs are stored
    LayerBytes dense, expert;
    std::vector<std::pair<LayerKind, LayerBytes>> kinds; ///< of a hybrid's layers
    double input = 0; ///< bytes per token of a recomputed layer's stored input
    Recompute recompute;
    ActivationOffload offload;

    double visionTokens = 0; ///< of one micro-batch in the encoder
    double tower = 0; ///< bytes of one micro-batch in the encoder, on the first stage
    double projector = 0; ///< and in the projector
    double visionRebuilt = 0; ///< bytes of an encoder layer that backward builds again

    double encoder = 0; ///< bytes of one micro-batch in an encoder-decoder model's encoder, on the first stage
    double encoderRebuilt = 0; ///< of one of its layers (groups), like StageActivations::rebuilt

    [[nodiscard]] double vision() const { return tower + projector; }
};

/// `samples` and `sequence` are b and s of one micro-batch. Calibration::k stands for the k of a whole layer at t = 1,
/// so recomputation and tensor parallelism act on it in the proportions of the table.
[[nodiscard]] ActivationModel activationModel(const TrainingPlan& plan, const Architecture& model,
                                              const VisionTower& tower, const Projector& projector, const Split& split,
                                              const Calibration& calibration);

/// One micro-batch in a stage.
struct StageActivations
{
    double kept = 0; ///< bytes held from forward to backward
    double rebuilt = 0; ///< bytes more while backward rebuilds a recomputed layer
};
/// For `denseLayers` + `expertLayers` layers that run as `chunks` equal chunks; the vision encoder is not in it.
[[nodiscard]] StageActivations stageActivations(const ActivationModel& model, std::int64_t denseLayers,
                                                std::int64_t expertLayers, std::int64_t chunks);
/// For the layers of a hybrid, so many of each kind.
[[nodiscard]] StageActivations stageActivations(const ActivationModel& model,
                                                const std::vector<std::pair<LayerKind, std::int64_t>>& counts,
                                                std::int64_t chunks);

} // namespace headroom
