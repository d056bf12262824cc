// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of a block by the names that regular expressions look for.
#pragma once

#include "footprint/recipe/trained_parts.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Names of the modules that model code of transformers has for the same things (modeling_llama.py, modeling_gpt2.py,
/// modeling_gpt_neox.py, modeling_mixtral.py, modeling_deepseek_v3.py; of hybrids modeling_qwen3_next.py,
/// modeling_bamba.py, modeling_jamba.py and modeling_nemotron_h.py, from memory).
struct ModuleNames
{
    std::string_view blocks = "model.layers.", table = "model.embed_tokens", norm = "model.norm", head = "lm_head";
    std::string_view query = "self_attn.q_proj", key = "self_attn.k_proj", value = "self_attn.v_proj";
    std::string_view output = "self_attn.o_proj";
    std::string_view gate = "mlp.gate_proj", up = "mlp.up_proj", down = "mlp.down_proj";
    std::string_view router = "mlp.gate", experts = "mlp.experts.", shared = "mlp.shared_experts";
    std::string_view stateSpace = "mamba.", deltaNet = "linear_attn.";
    std::string_view expertGate = ".gate_proj", expertUp = ".up_proj", expertDown = ".down_proj";
    std::string_view firstNorm = "input_layernorm", secondNorm = "post_attention_layernorm";
    std::string_view tower = "visual.blocks.", projector = "visual.merger.mlp.0";
    bool isMegatronCore = false;
    bool isFused = false; ///< norms, with the linear layer behind them
    bool isGrouped = false; ///< experts of one linear layer, whose weights are numbered
};

/// Those that the plan's expressions mean: of its framework's modules, or of the checkpoint's that they come from.
[[nodiscard]] ModuleNames namesFor(const TrainingPlan& plan);
[[nodiscard]] ModuleNames megatronNames(const TrainingPlan& plan);

/// A parameter of a block, biases left to the weight beside them.
struct NamedParameter
{
    std::string name; ///< behind the block's own
    std::uint32_t parts = 0; ///< several: they are one weight
    double elements = 0;
};

/// In the order in which the model has them.
[[nodiscard]] std::vector<NamedParameter> blockParameters(const Architecture& model, const ModuleNames& names,
                                                          LayerKind kind);
[[nodiscard]] std::vector<NamedParameter> megatronBlockParameters(const Architecture& model, const ModuleNames& names,
                                                                  LayerKind kind);

/// Whole numbers of elements, in double: sums of any plan's stay finite.
[[nodiscard]] inline double elementsOf(std::int64_t a, std::int64_t b)
{
    return static_cast<double>(a) * static_cast<double>(b);
}

} // namespace headroom
