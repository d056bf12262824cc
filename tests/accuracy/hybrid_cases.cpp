// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/hybrid_cases.h"

#include <array>
#include <string>
#include <utility>

namespace headroom::accuracy {

bool HybridReader::reads(std::string_view id)
{
    return id.starts_with("bridge-nano-") || id.starts_with("vmp-qwen35-");
}

void HybridReader::read()
{
    readModel();
    readBatchAndParallel();
    readRecompute();
    readImplementation();
    readSharding();
    if (m_case.id.starts_with("bridge-nano-")) {
        readNemotron();
    } else {
        readQwen();
    }
}

/// Megatron-Bridge's recipes, as remembered: Transformer Engine's layers and fused loss, experts by grouped products
/// behind an all-to-all exchange, scores of the router in fp32.
void HybridReader::readImplementation()
{
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 12>{{
             {"implementation.profile", "megatron-te"},
             {"precision.recipe", "megatron-bf16"},
             {"attention.impl", "flash"},
             {"implementation.fused_loss", "te-inplace"},
             {"implementation.loader_mask", "false"},
             {"model.vocab_pad_multiple", "128"},
             {"model.tied_embeddings", "false"},
             {"moe.dispatcher", "alltoall"},
             {"moe.grouped_gemm", "true"},
             {"moe.permute_fusion", "true"},
             {"moe.router_dtype", "fp32"},
             {"parallel.etp", "1"},
         }}) {
        set(field, value);
    }
    set("parallel.ep", text(m_node["parallel"]["ep"]));
    std::string modules;
    for (const YAML::Node& module : m_node["recompute"]["modules"]) {
        modules += (modules.empty() ? "" : ", ") + text(module);
    }
    set("recompute.modules", modules);
}

void HybridReader::readSharding()
{
    const std::string fsdp = text(m_node["sharding"]["fsdp"]);
    if (fsdp.empty()) {
        set("shard.dist_opt", "true");
    } else {
        set("shard.strategy", fsdp.substr(fsdp.rfind(' ') + 1)); // "Megatron-FSDP optim_grads_params"
    }
    const bool isOffloaded = contains(text(m_node["sharding"]["offload"]), "optimizer states");
    if (isOffloaded) {
        set("shard.offload_params", "false");
        set("shard.offload_optimizer", "true");
    }
}

/// config.json of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16: 31.58 billion parameters. The performance scripts reduce
/// gradients in bf16, and its recipe fuses the experts' activation. The last rank logs. Runs that later ended out of
/// memory are read as the first step's: 14.7 GiB of moments were not there yet. What CUDA graphs keep is not counted.
void HybridReader::readNemotron()
{
    m_case.isLastStage = true;
    m_case.isFirstStep = text(m_node["outcome"]) == "ran_then_oom";
    if (m_case.isFirstStep) {
        m_case.pairs.clear(); // nothing to calibrate a later step on
    }
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 11>{{
             {"model.layer_pattern", "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"},
             {"model.head_dim", "128"},
             {"model.gated_mlp", "false"},
             {"model.activation", "squared_relu"},
             {"model.rope", "false"},
             {"mixer.heads", "64"},
             {"mixer.head_dim", "64"},
             {"mixer.state_dim", "128"},
             {"mixer.groups", "8"},
             {"precision.grads", "bf16"},
             {"implementation.squared_relu_fusion", "true"},
         }}) {
        set(field, value);
    }
}

/// config.json of Qwen/Qwen3.5-35B-A3B and 122B-A10B, without the layer that predicts a token further. A figure that
/// may count what the allocator has kept calibrates nothing.
void HybridReader::readQwen()
{
    m_case.doubt = "allocated or reserved bytes, its source does not tell; nor which images its data has";
    m_case.pairs.clear();
    readTower();
    const bool isLarge = contains(m_case.id, "122b");
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 15>{{
             {"model.gated_mlp", "true"},
             {"model.heads", isLarge ? "32" : "16"},
             {"model.kv_heads", "2"},
             {"model.head_dim", "256"},
             {"model.attn_gate", "true"},
             {"model.qk_norm", "true"},
             {"model.rope", "true"},
             {"model.rotary_fraction", "0.25"},
             {"moe.ffn", isLarge ? "1024" : "512"},
             {"moe.shared_ffn", isLarge ? "1024" : "512"},
             {"moe.shared_gate", "true"},
             {"mixer.kind", "gated_delta_net"},
             {"mixer.attention_every", "4"},
             {"mixer.heads", isLarge ? "64" : "32"},
             {"mixer.key_heads", "16"},
         }}) {
        set(field, value);
    }
    set("mixer.head_dim", "128");
    set("mixer.key_dim", "128");
}

/// The same for both, whole on every tensor-parallel rank. What images the mock data has is not told: one small one a
/// sample, beside 128 k tokens, and a tower that is trained.
void HybridReader::readTower()
{
    m_case.missing.clear();
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 12>{{
             {"vision.layers", "27"},
             {"vision.hidden", "1152"},
             {"vision.ffn", "4304"},
             {"vision.heads", "16"},
             {"vision.patch", "16"},
             {"vision.temporal_patch", "2"},
             {"vision.merge", "2"},
             {"vision.image_size", "256"},
             {"vision.learned_positions", "true"},
             {"projector.type", "patch_merger"},
             {"parallel.encoder_tp", "1"},
             {"frozen.vision", "false"},
         }}) {
        set(field, value);
    }
    set("frozen.projector", "false");
}

} // namespace headroom::accuracy
