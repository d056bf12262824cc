// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/activation_offload.h"
#include "footprint/architecture.h"
#include "footprint/footprint.h"

#include <array>
#include <cstdint>

namespace headroom {

/// The tensors a layer keeps for its backward pass (theory.md 3.2 and 3.8).
enum class Kept : std::uint8_t {
    NormInputs, ///< the residual stream in front of both norms
    AttentionNorm, ///< norm1 output
    MlpNorm, ///< norm2 output
    NormStatistics,
    Latents, ///< MLA: compressed q and kv with their norms
    QueryKeyValue,
    AttentionOutput,
    LogSumExp,
    DropoutMasks, ///< of attention's and the MLP's outputs
    Scores, ///< only where attention is not fused
    Hidden, ///< fc1 output
    Activated, ///< activation output, fc2 input
    Router,
    ExpertInput,
    ExpertHidden,
    ExpertActivated,
    ExpertProbabilities,
    SharedHidden,
    SharedActivated,
    MixerProjection, ///< of a mixer other than attention
    ScanOutput,
    MixerNorm, ///< result of the norm behind the scan
};
inline constexpr std::size_t keptCount = 22;

/// Bytes per token that one layer keeps on one GPU.
struct LayerTensors
{
    std::array<double, keptCount> bytes{};

    double& operator[](Kept tensor) { return bytes[static_cast<std::size_t>(tensor)]; }
    double operator[](Kept tensor) const { return bytes[static_cast<std::size_t>(tensor)]; }
    [[nodiscard]] double total() const;
};

/// Bytes per score (query, key, head) that attention keeps: none fused; unfused its 16-bit softmax, in eager
/// Python an fp32 one too, with dropout also the mask and the dropped copy (theory.md 3.2, 3.6).
[[nodiscard]] double scoreBytes(const TrainingPlan& plan);

/// The fused layer of theory.md 3.2 with the corrections of its addenda: 16-bit tensors, with rotary
/// positions q, k and v kept once. `keysPerQuery`: sequence length, for unfused attention.
[[nodiscard]] LayerTensors denseLayer(const Architecture& model, const Split& split, double scoreBytes,
                                      double keysPerQuery);
/// The same with experts in place of the MLP, balanced routing, no token dropped (theory.md 3.8).
[[nodiscard]] LayerTensors expertLayer(const Architecture& model, const Split& split, double scoreBytes,
                                       double keysPerQuery, double capacityFactor);

/// What recomputing does to one layer.
struct LayerBytes
{
    double whole = 0; ///< per token, nothing recomputed
    double kept = 0; ///< per token, after the named modules are recomputed
    double offloaded = 0; ///< of them, what may wait in the host's memory

    LayerBytes& operator*=(double scale);
};

/// Which layers of a stage are recomputed.
struct Recompute
{
    enum class Kind : std::uint8_t { None, Modules, Uniform, Block };

    Kind kind = Kind::None;
    std::int64_t group = 1; ///< Uniform: layers that share one stored input
    std::int64_t layers = 0; ///< Block: the first layers of each stage are recomputed one by one
    bool perChunk = false; ///< Block: of each chunk instead, as Megatron-LM's method "block" counts them
    bool everyLayer = false; ///< Block without a number: all of them
    double share = -1; ///< Block: of each chunk's layers, in place of a number; below 0: none is given
    bool vision = false; ///< the vision encoder's layers as well

    /// Block: of one of a stage's chunks with so many layers.
    [[nodiscard]] double blockLayers(double chunkLayers, double chunks) const;
};
/// What the plan really does: `enabled: false` wins over any granularity.
[[nodiscard]] Recompute recomputeOf(const TrainingPlan& plan);

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
