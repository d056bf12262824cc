// SPDX-License-Identifier: GPL-3.0-or-later
// Image encoders of PyTorch frameworks: patches, blocks, and what carries their features into the language model.
#pragma once

#include "footprint/tape_torch.h"

namespace headroom {

/// The encoder as a shape of its own: its images are the batch; neither parallel dimension divides it.
[[nodiscard]] TorchShape torchVisionShape(const TorchShape& language, const VisionTower& tower, bool isTrained);

[[nodiscard]] TorchWeights patchWeights(const VisionTower& tower);
[[nodiscard]] TorchWeights projectorWeights(const VisionTower& tower, const Projector& projector);

void writeTorchPatches(const TorchShape& shape, const VisionTower& tower, PersistentStorages& persistents,
                       Piece& piece);
/// `trainsEncoder`: the encoder wants its gradient.
void writeTorchProjector(const TorchShape& shape, const VisionTower& tower, const Projector& projector,
                         bool trainsEncoder, PersistentStorages& persistents, Piece& piece);
/// Bytes of the features that the language model reads of one micro-batch.
[[nodiscard]] std::int64_t torchFeatureBytes(const TorchShape& vision, const VisionTower& tower,
                                             const Projector& projector);

} // namespace headroom
