// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/fields.h"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace headroom::test {

using FieldTexts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// A plan from canonical keys, as a file would state them. A wrong key in a test is a mistake of the test.
inline TrainingPlan planOf(FieldTexts fields, TrainingPlan plan = {})
{
    for (const auto& [key, text] : fields) {
        if (const auto done = setField(plan, key, text, {OriginKind::ConfigFile, 1, nullptr}); !done) {
            throw std::invalid_argument(std::string(key) + ": " + done.error().english());
        }
    }
    return plan;
}

/// workflow.md section 2: h = 1024, L = 24, V = 50000, S = 1024, micro-batch 2.
inline TrainingPlan workflowExample()
{
    return planOf({{"model.layers", "24"},
                   {"model.hidden", "1024"},
                   {"model.vocab", "50000"},
                   {"batch.seq", "1024"},
                   {"batch.micro", "2"}});
}

inline TrainingPlan llama2Of7B()
{
    return planOf({{"model.layers", "32"},
                   {"model.hidden", "4096"},
                   {"model.heads", "32"},
                   {"model.ffn", "11008"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "32000"},
                   {"model.tied_embeddings", "false"},
                   {"batch.seq", "4096"},
                   {"batch.micro", "1"}});
}

inline TrainingPlan llama2Of70B()
{
    return planOf({{"model.layers", "80"},
                   {"model.hidden", "8192"},
                   {"model.heads", "64"},
                   {"model.kv_heads", "8"},
                   {"model.ffn", "28672"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "32000"},
                   {"model.tied_embeddings", "false"},
                   {"batch.seq", "4096"},
                   {"batch.micro", "1"}});
}

/// What the benches measure by: TP 8 with sequence parallelism, PP 4, eight replicas.
inline TrainingPlan llama2Of70BOverStages()
{
    return planOf({{"parallel.tp", "8"},
                   {"parallel.pp", "4"},
                   {"parallel.dp", "8"},
                   {"parallel.sp", "true"},
                   {"shard.dist_opt", "true"},
                   {"precision.recipe", "megatron-bf16"},
                   {"batch.accum", "16"}},
                  llama2Of70B());
}

inline TrainingPlan llama3Of8B()
{
    return planOf({{"model.layers", "32"},
                   {"model.hidden", "4096"},
                   {"model.heads", "32"},
                   {"model.kv_heads", "8"},
                   {"model.ffn", "14336"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "128256"},
                   {"model.tied_embeddings", "false"},
                   {"batch.seq", "8192"},
                   {"batch.micro", "1"}});
}

inline TrainingPlan deepSeekV3()
{
    return planOf({{"model.layers", "61"},
                   {"model.hidden", "7168"},
                   {"model.heads", "128"},
                   {"model.head_dim", "128"},
                   {"model.ffn", "18432"},
                   {"model.gated_mlp", "true"},
                   {"model.vocab", "129280"},
                   {"model.tied_embeddings", "false"},
                   {"moe.experts", "256"},
                   {"moe.topk", "8"},
                   {"moe.ffn", "2048"},
                   {"moe.shared_ffn", "2048"},
                   {"moe.first_dense_layers", "3"},
                   {"mla.q_lora_rank", "1536"},
                   {"mla.kv_lora_rank", "512"},
                   {"mla.qk_nope_dim", "128"},
                   {"mla.qk_rope_dim", "64"},
                   {"mla.v_dim", "128"}});
}

} // namespace headroom::test
