// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "footprint/written_plan.h"

namespace headroom::test {

/// Llama-2-7B in one micro-batch of its own length, under Megatron-LM.
inline const QByteArray llama7b
    = "model.layers=32 model.hidden=4096 model.ffn=11008 model.gated_mlp=true model.heads=32 "
      "model.vocab=32000 model.tied_embeddings=false batch.micro=1 batch.seq=4096 "
      "precision.recipe=megatron-bf16 ";

} // namespace headroom::test
