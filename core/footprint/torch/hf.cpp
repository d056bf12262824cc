// SPDX-License-Identifier: GPL-3.0-or-later
// Hugging Face transformers: modeling_llama.py and its relatives, which write the norm in Python, expand grouped keys
// and values before eager and (up to 4.47) SDPA attention, and upcast the logits (loss/loss_utils.py). Trainer drops
// the model's output before backward (trainer.py, compute_loss) and steps with AdamW, foreach where not fused. Adapters
// of PEFT stay in fp32 (tuners_utils.py, autocast_adapter_dtype). Its Adafactor is optimization.py's.
// Tensor parallelism is that of its plans (base_model_tp_plan of configuration_llama.py, _tp_plan of
// modeling_llama.py): the embedding is in none, the output layer's parts are gathered (colwise_rep). In 8 bits
// accelerate puts torchao's layers in the place of linear ones, but the first and the last (utils/ao.py), or
// Transformer Engine's of all (utils/transformer_engine.py, convert_model).
#include "footprint/torch/tapes.h"

namespace headroom {

/// What does not depend on how attention is computed.
static constexpr TorchHabits transformersHabits(std::string_view profile)
{
    return {.profile = profile,
            .hasFirstFsdp = true,
            .accumulatesWhole = true,
            .hasOwnAdafactor = true,
            .splitsTensors = true,
            .holdsTableWhole = true,
            .gathersLogits = true,
            .castsToFloat8 = true,
            .hasEngineLayers = true};
}

constinit const TorchHabits hfEagerHabits = [] {
    TorchHabits habits = transformersHabits("hf-eager");
    habits.hasExplicitScores = true;
    return habits;
}();

constinit const TorchHabits hfSdpaHabits = transformersHabits("hf-sdpa");

/// flash-attn reads grouped keys and values as they are.
constinit const TorchHabits hfFlashHabits = [] {
    TorchHabits habits = transformersHabits("hf-flash");
    habits.repeatsKv = false;
    return habits;
}();

} // namespace headroom
