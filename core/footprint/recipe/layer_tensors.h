// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/architecture.h"

#include <array>
#include <cstdint>
#include <initializer_list>

namespace headroom {

inline constexpr double bytesPerValue = 2; // activations are 16-bit

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
    void drop(std::initializer_list<Kept> tensors);
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

/// Tokens of a sample that a decoder attends to across, and its own.
struct CrossTokens
{
    double memory = 0, own = 0;
};

/// A decoder's second attention: queries of its own tokens, keys and values of the encoder's, whose states it shares
/// with all other layers.
void addCrossAttention(const Architecture& model, const Split& split, double scoreBytes, const CrossTokens& tokens,
                       LayerTensors& layer);

} // namespace headroom
