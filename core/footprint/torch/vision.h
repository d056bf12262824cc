// SPDX-License-Identifier: GPL-3.0-or-later
// Image encoders of PyTorch frameworks: patches, blocks, and what carries their features into the language model.
#pragma once

#include "footprint/torch/tapes.h"

namespace headroom {

/// The encoder as a shape of its own: `images` are the batch; of the parallel dimensions only an encoder's own tensor
/// parallelism divides it.
[[nodiscard]] TorchShape torchVisionShape(const TorchShape& language, const VisionTower& tower, std::int64_t images,
                                          bool isTrained);

[[nodiscard]] TorchWeights patchWeights(const VisionTower& tower);
[[nodiscard]] TorchShape torchPerceiverShape(const TorchShape& vision, const VisionTower& tower,
                                             const Projector& projector);
[[nodiscard]] TorchWeights perceiverWeights(const Projector& projector);
[[nodiscard]] TorchWeights projectorWeights(const VisionTower& tower, const Projector& projector);

void writeTorchPatches(const TorchShape& shape, const VisionTower& tower, PersistentStorages& persistents,
                       Piece& piece);
/// `trainsEncoder`: the encoder wants its gradient.
void writeTorchProjector(const TorchShape& shape, const VisionTower& tower, const Projector& projector,
                         bool trainsEncoder, PersistentStorages& persistents, Piece& piece);
/// Bytes of the features that the language model reads of so many images.
[[nodiscard]] std::int64_t torchFeatureBytes(std::int64_t images, const Projector& projector, std::int64_t element);

} // namespace headroom
