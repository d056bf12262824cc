// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/recipe/architecture.h"
#include "footprint/tape/program.h"

namespace headroom {

/// How one rank holds an image encoder.
struct EncoderShare
{
    std::int64_t tensor = 1; ///< ranks that split its matrices
    std::int64_t images = 1; ///< of a micro-batch that the rank encodes
    bool isTrained = true;
};
/// The image encoder's own shape: its width and heads, its images as the batch, neither context parallelism nor
/// rotary positions nor dropout.
[[nodiscard]] RankShape visionShape(const RankShape& language, const VisionTower& tower, const EncoderShare& share);
/// The projector's: replicated over tensor parallelism (theory.md 1.6).
[[nodiscard]] RankShape projectorShape(const RankShape& vision, bool isTrained);

/// Pixels to patches, class token and positions.
void writePatches(const RankShape& shape, const VisionTower& tower, PersistentStorages& persistents, Piece& piece);
/// Stacks that each make features: 1, and one for each inner layer whose features join the language model's first
/// layers (Qwen3-VL's deepstack).
[[nodiscard]] std::int64_t mergersOf(const Projector& projector);
/// From the encoder's tokens to the language model's, all mergers after the last layer. `trainsEncoder`: the encoder
/// wants its gradient. Resamplers are not described.
void writeProjector(const RankShape& shape, const VisionTower& tower, const Projector& projector, bool trainsEncoder,
                    PersistentStorages& persistents, Piece& piece);

} // namespace headroom
