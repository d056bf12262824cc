// SPDX-License-Identifier: GPL-3.0-or-later
// Frameworks that differ from the others by habits alone (theory_frameworks.md 5, 7, 10, 13).
#include "footprint/tape_torch.h"

namespace headroom {

/// FSDP2 with fp32 shards, groups of their own for tables that are not tied (trainer/model.py, setup_fsdp); routed rows
/// are multiplied by their scores in fp32 (layers/moe.py); the reinforcement trainer's head works in pieces, the
/// fine-tuning one keeps its fp32 logits in the output dictionary (sft/train.py); AdamW of PyTorch, foreach. Expandable
/// segments are inferred from the published reserved bytes: they are met within 3 % in the median with them, exceeded
/// by 9 % without.
const TorchHabits primeRlHabits{.profile = "prime-rl",
                                .repeatsKv = false,
                                .weighsInFp32 = true,
                                .gathersTablesAlone = true,
                                .chunkedLoss = LossPath::ChunkedVocabulary,
                                .keepsUpcastLogits = true,
                                .setsExpandableSegments = true};

/// finetune/lora.py: q, k and v from one product, the norm written out in fp32 (rmsnorm.py), logits in chunks of 128
/// tokens, everything in 16 bits except what Fabric hands out: its half precision converts the model's output to the
/// default type (lightning/fabric/plugins/precision/half.py, convert_output). 4-bit products kept their inputs.
const TorchHabits litGptHabits{.profile = "litgpt",
                               .repeatsKv = false,
                               .savesQuantisedInputs = true,
                               .loss = LossPath::ChunkedLogits,
                               .chunkedLoss = LossPath::ChunkedLogits,
                               .returnsFp32Logits = true,
                               .packsQkv = true,
                               .adapterType = DataType::Bf16};

/// solver/optimizer/hybrid_zero_optim.py: one flat fp32 tensor a group, stepped by PyTorch's AdamW without fusion;
/// solver/optimizer/utils.py, compute_norm: a list of every gradient's float().
const TorchHabits internEvoHabits{.profile = "internevo",
                                  .repeatsKv = false,
                                  .step = StepImplementation::Flat,
                                  .clipsInFp32 = true,
                                  .supportsTensorParallel = true};

/// core/runtime: FSDP around Megatron's linear layers with sequence parallelism; SwiGLU without fusion.
const TorchHabits galvatronHabits{
    .profile = "galvatron", .repeatsKv = false, .step = StepImplementation::Fused, .supportsTensorParallel = true};

/// models/llama.py, nn/layer_norm.py: q, k and v from one product, the norm of flash-attn's Triton kernel, SwiGLU
/// without fusion; PyTorch's fused AdamW. Gradients that accumulate in fp32 are counted as they stay
/// (optim/gradient_accumulator.py).
const TorchHabits nanotronHabits{.profile = "nanotron",
                                 .hasPythonNorm = false,
                                 .repeatsKv = false,
                                 .packsQkv = true,
                                 .step = StepImplementation::Fused,
                                 .supportsTensorParallel = true};

} // namespace headroom
