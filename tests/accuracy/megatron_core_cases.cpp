// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/megatron_core_cases.h"

#include <array>
#include <utility>

namespace headroom::accuracy {

bool MegatronCoreReader::reads(std::string_view framework, std::string_view id)
{
    return id.starts_with("simumax-") || framework == "NeMo Megatron-Bridge"
        || framework.starts_with("ms-swift (Megatron");
}

/// What the three have in common: Transformer Engine's layers, the distributed optimizer with fp32 gradients.
void MegatronCoreReader::read()
{
    readModel();
    readBatchAndParallel();
    readRecompute();
    readAttention();
    readExperts();
    readModules();
    set("implementation.profile", "megatron-te");
    set("precision.recipe", "megatron-bf16");
    set("shard.dist_opt", "true");
    set("model.rope", "true");
    set("model.vocab_pad_multiple", "128");
    set("parallel.vpp", text(m_node["parallel"]["vpp"]));
    if (m_case.id.starts_with("simumax-")) {
        readSimuMax();
    } else if (m_case.framework == "NeMo Megatron-Bridge") {
        readBridge();
    } else {
        readSwift();
    }
}

void MegatronCoreReader::readAttention()
{
    set("attention.impl", text(m_node["flash_attention"]) == "true" ? "flash" : "unfused");
    const YAML::Node latent = m_node["model"]["mla"];
    if (!latent || !latent.IsMap()) {
        return;
    }
    for (const auto& [key, field] : std::array<std::pair<const char*, const char*>, 5>{{
             {"kv_lora_rank", "mla.kv_lora_rank"},
             {"q_lora_rank", "mla.q_lora_rank"},
             {"qk_nope_head_dim", "mla.qk_nope_dim"},
             {"qk_rope_head_dim", "mla.qk_rope_dim"},
             {"v_head_dim", "mla.v_dim"},
         }}) {
        set(field, text(latent[key]));
    }
}

void MegatronCoreReader::readExperts()
{
    const YAML::Node experts = m_node["model"]["moe"];
    if (!experts || !experts.IsMap()) {
        return;
    }
    set("moe.dispatcher", "alltoall");
    set("moe.grouped_gemm", "true");
    set("moe.permute_fusion", "true");
    set("moe.capacity_factor", text(experts["capacity_factor"]));
    set("moe.pad_to_capacity", text(experts["pad_to_capacity"]));
    set("parallel.ep", text(m_node["parallel"]["ep"]));
    set("parallel.etp", "1");
}

void MegatronCoreReader::readModules()
{
    set("recompute.method", text(m_node["recompute"]["method"]));
    set("recompute.num_layers", text(m_node["recompute"]["num_layers"]));
    std::string modules;
    for (const YAML::Node& module : m_node["recompute"]["modules"]) {
        modules += (modules.empty() ? "" : ", ") + text(module);
    }
    set("recompute.modules", modules);
}

/// simu_tools/megatron_scripts/scripts/run_pretrain_*.sh: Transformer Engine's fused loss, no mask from the loader,
/// heads exchanged under context parallelism, no overlap.
void MegatronCoreReader::readSimuMax()
{
    set("implementation.fused_loss", "te-inplace");
    set("implementation.loader_mask", "false");
    set("parallel.cp_comm", "a2a");
}

/// The recipes, as remembered: src/megatron/bridge/recipes (Moonlight) and scripts/performance (Qwen3, Llama 3) reduce
/// gradients in bf16, which the default mixed precision does not. Moonlight's moments are bf16; its precision-aware
/// optimizer still keeps fp32 masters and copies gradients, since mixed_precision.py hands its fp8_recipe, tensorwise
/// unless stated, to OptimizerConfig, whose __post_init__ then turns the decoupled path off. The performance scripts
/// take Transformer Engine's loss and balance the router; 8-bit runs store 8-bit parameters. The last rank logs
/// (Megatron-Bridge issue 3164).
void MegatronCoreReader::readBridge()
{
    m_case.isLastStage = true;
    set("implementation.loader_mask", "false");
    if (!text(m_node["model"]["hybrid"]).empty()) {
        m_case.missing = "layers of several kinds in turn";
    }
    set("precision.grads", "bf16");
    if (contains(words(m_node["precision"]), "fp8 current scaling")) {
        set("precision.fp8", "tensorwise");
        set("precision.fp8_params", "true");
    }
    if (contains(m_case.id, "moonlight")) {
        set("precision.opt_m", "bf16");
        set("precision.opt_v", "bf16");
    } else {
        set("implementation.fused_loss", "te-inplace");
    }
}

void MegatronCoreReader::readSwift()
{
    set("shard.offload_params", "false");
    set("implementation.expandable_segments", "true");
}

} // namespace headroom::accuracy
