// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/loss_cases.h"

#include <array>
#include <utility>

namespace headroom::accuracy {

bool LossReader::reads(std::string_view id)
{
    return id.starts_with("comp-ce-skyrl-") && !id.ends_with("fused-linear");
}

/// Megatron's vocabulary-parallel loss on one rank's share of the vocabulary: plain, or its fused one.
void LossReader::read()
{
    m_case.isLossAlone = true;
    const YAML::Node model = m_node["model"];
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 9>{{
             {"implementation.profile", "megatron-te"},
             {"implementation.loader_mask", "false"},
             {"precision.recipe", "megatron-bf16"},
             {"attention.impl", "flash"},
             {"model.layers", "1"},
             {"model.hidden", "8"},
             {"model.ffn", "8"},
             {"model.heads", "1"},
             {"batch.micro", "1"},
         }}) {
        set(field, value);
    }
    set("model.vocab", text(model["vocab_per_rank"] ? model["vocab_per_rank"] : model["vocab"]));
    set("batch.seq", text(model["seq"]));
    set("implementation.fused_loss", m_case.id.ends_with("nv-fused") ? "native" : "");
}

} // namespace headroom::accuracy
