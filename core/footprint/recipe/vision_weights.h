// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of what stands in front of a language model (theory.md 1.5, 1.6).
#pragma once

#include "footprint/recipe/parameters.h"

#include <cstdint>
#include <vector>

namespace headroom {

[[nodiscard]] Weights visionLayerWeights(const VisionTower& tower, std::int64_t tensorParallel);
/// What is no layer: patches, positions, norms.
[[nodiscard]] Weights visionStemWeights(const VisionTower& tower, std::int64_t tensorParallel);
/// Projectors are small and their weights are kept whole on every tensor-parallel rank.
[[nodiscard]] Weights projectorWeights(const Projector& projector, const VisionTower& tower);
/// Of its linear layers, from the first one's input to the last one's output (theory.md 1.6); none where it attends.
[[nodiscard]] std::vector<std::int64_t> projectorWidths(const Projector& projector);

} // namespace headroom
