// SPDX-License-Identifier: GPL-3.0-or-later
// The encoder of an encoder-decoder model under PyTorch frameworks: T5, BART, Whisper.
#pragma once

#include "footprint/torch/tapes.h"

namespace headroom {

/// The encoder as a shape of its own; `decoder` has its tokens as memory.
[[nodiscard]] TorchShape torchSourceShape(const TorchShape& decoder);

/// What makes the encoder's input, beside the table that it shares with the decoder. Whisper's positions are not
/// trained (transformers modeling_whisper.py).
[[nodiscard]] TorchWeights sourceWeights(const TorchShape& source);
[[nodiscard]] TorchWeights sourcePositions(const TorchShape& source);
[[nodiscard]] TorchWeights sourceNormWeights(const TorchShape& source);

/// Words or the spectrogram become the stream.
void writeTorchSource(const TorchShape& source, PersistentStorages& persistents, Piece& piece);
/// The norm after the last layer, whose result stays until the decoder is done with it.
void writeTorchSourceNorm(const TorchShape& source, PersistentStorages& persistents, Piece& piece);

} // namespace headroom
