// SPDX-License-Identifier: GPL-3.0-or-later
// Frameworks that differ from the others by habits alone (theory_frameworks.md 5, 7, 10, 13).
#include "footprint/torch/tapes.h"

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
/// default type (lightning/fabric/plugins/precision/half.py, convert_output); its precision transformer-engine replaces
/// linear layers; FSDP is PyTorch's first (strategies/fsdp.py), whose no_sync its loops take between steps. 4-bit
/// products kept their inputs. Fabric packs every linear layer and makes fp16 of the weights first, so that they are
/// unpacked to fp16 and then converted (plugins/precision/bitsandbytes.py, _Linear4bit.quantize); bnb.nf4 leaves their
/// constants in fp32. Only pretraining ties tables, where it is told to (pretrain.py,
/// tie_weights).
const TorchHabits litGptHabits{.profile = "litgpt",
                               .repeatsKv = false,
                               .savesQuantisedInputs = true,
                               .quantisesHead = true,
                               .hasPlainConstants = true,
                               .unpackedCopies = 2,
                               .hasFirstFsdp = true,
                               .accumulatesWhole = true,
                               .loss = LossPath::ChunkedLogits,
                               .chunkedLoss = LossPath::ChunkedLogits,
                               .returnsFp32Logits = true,
                               .packsQkv = true,
                               .adapterType = DataType::Bf16,
                               .untiesTables = true,
                               .hasEngineLayers = true};

/// solver/optimizer/hybrid_zero_optim.py: one flat fp32 tensor a group, stepped by PyTorch's AdamW without fusion;
/// solver/optimizer/utils.py, compute_norm: a list of every gradient's float(). FSDP is PyTorch's first.
const TorchHabits internEvoHabits{.profile = "internevo",
                                  .repeatsKv = false,
                                  .hasFirstFsdp = true,
                                  .step = StepImplementation::Flat,
                                  .clipsInFp32 = true,
                                  .supportsTensorParallel = true};

/// core/runtime: FSDP around every layer of Megatron's, with its kernels for norms and SwiGLU, its gathers of sequence
/// parallelism and sequences before tokens for flash attention (runtime/models/modules.py, tensor_parallel/layers.py);
/// the loss in 16 bits; embedding and output layer are groups of their own, split over vocab_tp ranks, one by default.
const TorchHabits galvatronHabits{.profile = "galvatron",
                                  .hasPythonNorm = false,
                                  .hasFusedGate = true,
                                  .repeatsKv = false,
                                  .hasFirstFsdp = true,
                                  .gathersAhead = false,
                                  .reshardsInPipelines = true,
                                  .gathersTablesAlone = true,
                                  .loss = LossPath::Sixteen,
                                  .step = StepImplementation::Fused,
                                  .supportsTensorParallel = true,
                                  .gathersAgain = true,
                                  .copiesContext = true,
                                  .spreadsTables = true};

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
