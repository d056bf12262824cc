// SPDX-License-Identifier: GPL-3.0-or-later
// Frameworks that train with PyTorch's own modules: what they have in common.
#pragma once

#include "footprint/tape/program.h"
#include "footprint/torch/shape.h"
#include "footprint/torch/weights.h"

#include <cstdint>
#include <vector>

namespace headroom {

/// `imageBytes`: of the features that take the place of some tokens; 0: none.
void writeTorchEmbedding(const TorchShape& shape, std::int64_t imageBytes, PersistentStorages& persistents,
                         Piece& piece);
/// `needsGradient`: something in front of it is trained.
void writeTorchBlock(const TorchShape& shape, LayerKind kind, PersistentStorages& persistents, Piece& piece,
                     bool attendsAcross = false, bool needsGradient = true);
void writeTorchHead(const TorchShape& shape, PersistentStorages& persistents, Piece& piece, bool needsGradient = true);
/// The last norm and the classifier of a model whose result another one's loss reads.
void writeTorchScore(const TorchShape& shape, PersistentStorages& persistents, Piece& piece);

[[nodiscard]] StageTensors torchState(const TorchShape& shape, const std::vector<TorchPart>& parts);

[[nodiscard]] Result<void> buildTorchProgram(const TrainingPlan& plan, const TorchHabits& habits,
                                             ModelProgram& program);

} // namespace headroom
