// SPDX-License-Identifier: GPL-3.0-or-later
// Hybrids of PyTorch frameworks: layers whose mixers differ, as Hugging Face transformers writes them.
#pragma once

#include "footprint/torch/tapes.h"

namespace headroom {

/// Why these tapes do not describe a hybrid or gated attention, a sentence with the profile for %1; null: they do.
[[nodiscard]] const char* undescribedHybrid(const TrainingPlan& plan, const TorchHabits& habits);
/// Every tensor of its mixers stays far below 2^63 bytes.
[[nodiscard]] bool areMixersComputable(const TorchShape& shape);

/// Of a layer by its place, whatever it is.
[[nodiscard]] TorchWeights layerWeights(const TorchShape& shape, std::int64_t layer);
[[nodiscard]] TorchWeights kindWeights(const TorchShape& shape, LayerKind kind);
/// A layer of a hybrid.
void writeTorchKind(const TorchShape& shape, LayerKind kind, PersistentStorages& persistents, Piece& piece);

} // namespace headroom
