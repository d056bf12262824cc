// SPDX-License-Identifier: GPL-3.0-or-later
// torchtune: modules/rms_norm.py writes the norm in Python, modules/attention.py expands keys and values to all heads;
// the single-device recipes train bf16 weights with fused AdamW in bf16 and drop the logits before backward; adapters
// have the weights' type. Its tensor parallelism splits the embedding too and gathers the logits
// (models/llama3/_parallelism.py, output_layouts=Replicate()).
#include "footprint/torch/tapes.h"

namespace headroom {

const TorchHabits torchtuneHabits{.profile = "torchtune",
                                  .chunkedLoss = LossPath::ChunkedLogits,
                                  .step = StepImplementation::Fused,
                                  .adapterType = DataType::Bf16,
                                  .splitsTensors = true,
                                  .gathersLogits = true,
                                  .castsToFloat8 = true};

} // namespace headroom
