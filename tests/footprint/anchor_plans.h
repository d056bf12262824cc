// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs of Megatron-LM's functional tests that theory.md measures itself by, written out key by key.
#pragma once

#include "footprint/settings.h"

namespace headroom::test {

/// gpt3_7b_tp1_pp4_memory_speed and gpt3_7b_tp4_pp1_memory_speed: null tokenizer, so one more token.
inline const Settings gpt7b{{"model.layers", "32"},
                            {"model.hidden", "4096"},
                            {"model.ffn", "16384"},
                            {"model.heads", "32"},
                            {"model.kv_heads", "8"},
                            {"model.vocab", "131074"},
                            {"model.vocab_pad_multiple", "128"},
                            {"model.max_pos", "8192"},
                            {"model.learned_positions", "true"},
                            {"model.layer_norm", "true"},
                            {"model.attn_bias", "true"},
                            {"model.mlp_bias", "true"},
                            {"model.tied_embeddings", "false"},
                            {"model.attn_dropout", "0.1"},
                            {"model.hidden_dropout", "0.1"},
                            {"batch.seq", "8192"},
                            {"batch.global", "8"},
                            {"parallel.world", "8"},
                            {"shard.dist_opt", "true"},
                            {"precision.recipe", "megatron-bf16"},
                            {"implementation.profile", "megatron-te"},
                            {"implementation.deterministic", "true"},
                            {"implementation.grad_accum_fusion", "false"}};
/// gpt3_15b_8t_release, older libraries.
inline const Settings gpt15b{{"model.layers", "32"},
                             {"model.hidden", "6144"},
                             {"model.ffn", "24576"},
                             {"model.heads", "48"},
                             {"model.kv_heads", "8"},
                             {"model.vocab", "256000"},
                             {"model.vocab_pad_multiple", "128"},
                             {"model.layer_norm", "true"},
                             {"model.activation", "squared_relu"},
                             {"model.tied_embeddings", "false"},
                             {"model.rope", "true"},
                             {"model.rotary_fraction", "0.5"},
                             {"batch.micro", "4"},
                             {"batch.global", "384"},
                             {"batch.seq", "4096"},
                             {"parallel.world", "256"},
                             {"parallel.tp", "8"},
                             {"parallel.sp", "true"},
                             {"shard.dist_opt", "true"},
                             {"precision.recipe", "megatron-bf16"},
                             {"implementation.profile", "megatron-te"},
                             {"implementation.rope_fusion", "false"},
                             {"implementation.placeholder_grads", "false"}};
inline const Settings pipelined{{"batch.micro", "1"}, {"parallel.pp", "4"}, {"parallel.layers_per_vstage", "1"}};
inline const Settings tensorParallel{{"batch.micro", "2"}, {"parallel.tp", "4"}};

inline TrainingPlan planOf(const Settings& common, const Settings& own)
{
    return with(with({}, common), own);
}

} // namespace headroom::test
