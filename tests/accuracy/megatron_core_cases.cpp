// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/megatron_core_cases.h"

#include <array>
#include <string>
#include <utility>

namespace headroom::accuracy {

namespace {

bool isZeroBubble(std::string_view id)
{
    return id.starts_with("zbpaper-");
}

} // namespace

bool MegatronCoreReader::reads(std::string_view framework, std::string_view id)
{
    return id.starts_with("simumax-") || isZeroBubble(id) || framework == "NeMo Megatron-Bridge"
        || framework.starts_with("ms-swift (Megatron");
}

/// What the three have in common: Transformer Engine's layers, the distributed optimizer with fp32 gradients.
void MegatronCoreReader::read()
{
    if (isZeroBubble(m_case.id)) {
        readZeroBubble();
        return;
    }
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

/// arXiv:2401.10241 does not name its vocabulary, which the first and last stage alone hold, each with a layer less,
/// and counts s·b·h·(34 + 5·a·s/h) bytes a layer: Megatron's own attention with dropout.
void MegatronCoreReader::readZeroBubble()
{
    readModel();
    readBatchAndParallel();
    readRecompute();
    for (const auto& [field, value] : std::array<std::pair<const char*, const char*>, 11>{{
             {"implementation.profile", "megatron-local"},
             {"precision.recipe", "megatron-fp16"},
             {"attention.impl", "unfused"},
             {"model.vocab", "50257"},
             {"model.vocab_pad_multiple", "128"},
             {"model.learned_positions", "true"},
             {"model.layer_norm", "true"},
             {"model.attn_bias", "true"},
             {"model.mlp_bias", "true"},
             {"model.attn_dropout", "0.1"},
             {"model.hidden_dropout", "0.1"},
         }}) {
        set(field, value);
    }
    set("model.max_pos", text(m_node["model"]["seq"]));
    const int stages = m_node["parallel"]["pp"].as<int>();
    const std::string ends = std::to_string((m_node["model"]["layers"].as<int>() + 2) / stages - 1);
    set("parallel.first_stage_layers", ends);
    set("parallel.last_stage_layers", ends);
    set("batch.accum", std::to_string(3 * stages)); // any number of them peaks alike
    const std::string schedule = text(m_node["parallel"]["schedule"]);
    set("parallel.schedule", schedule == "ZB-2p" ? "zb-h2" : schedule == "ZB-1p" ? "zb-h1" : "1f1b");
    if (contains(schedule, "interleaved")) {
        m_case.missing = "number of chunks";
    }
}

/// ms-swift 4.6, swift/megatron/arguments/megatron_args.py: no padding of the vocabulary, fused loss in Megatron's own
/// kernel, rotary positions unfused; rows go one behind the other without a mask, so that a packed row is one of its
/// length. What unpacked rows hold, the data says.
void MegatronCoreReader::readSwift()
{
    const YAML::Node arguments = m_node["raw_args"];
    set("model.vocab_pad_multiple", "1");
    set("implementation.fused_loss", "native");
    set("implementation.rope_fusion", "false");
    set("implementation.loader_mask", "false");
    set("implementation.expandable_segments", "true");
    set("moe.router_dtype", "fp32");
    set("parallel.encoder_tp", "1"); // Hugging Face's module, whole on every rank (mcore-bridge 1.6, mm_gpts/utils.py)
    set("moe.capacity_factor", text(arguments["moe_expert_capacity_factor"]));
    set("parallel.first_stage_layers", text(arguments["decoder_first_pipeline_num_layers"]));
    set("parallel.last_stage_layers", text(arguments["decoder_last_pipeline_num_layers"]));
    set("shard.offload_params", "false");
    set("shard.offload_optimizer", text(arguments["optimizer_cpu_offload"]));
    set("shard.offload_optimizer_fraction", text(arguments["optimizer_offload_fraction"]));
    set("recompute.vision", text(arguments["vit_gradient_checkpointing"]));
    if (text(arguments["tuner_type"]) == "lora") {
        set("lora.rank", text(arguments["lora_rank"]));
        set("lora.targets", text(arguments["target_modules"]));
        set("lora.dropout", "0.05"); // its default
    }
    readSwiftObjective(arguments);
    if (m_node["model"]["vision"]) {
        readSwiftImages();
    }
    if (m_node["model"]["audio"]) {
        m_case.missing = "the size of the audio encoder";
    }
    if (text(arguments["packing"]) != "true") {
        m_case.missing = "token lengths";
    }
}

void MegatronCoreReader::readSwiftObjective(const YAML::Node& arguments)
{
    set("batch.packing", text(arguments["packing"]));
    set("objective.type", text(arguments["rlhf_type"]));
    if (text(arguments["task_type"]) == "seq_cls") {
        set("objective.head", "classifier");
        set("objective.labels", text(arguments["num_labels"]));
    }
}

/// The largest image: the scripts bound its tokens, or its pixels at 28 by 28 a token. A frozen tower keeps nothing of
/// however many there are.
void MegatronCoreReader::readSwiftImages()
{
    const YAML::Node vision = m_node["model"]["vision"];
    const std::string type = text(vision["type"]);
    const bool isIntern = contains(type, "InternViT");
    const std::string tokens = text(m_node["env"]["IMAGE_MAX_TOKEN_NUM"]);
    set("vision.tokens_per_image", isIntern ? "256" : tokens.empty() ? "1280" : tokens); // 1003520 / 28²
    set("projector.type", isIntern ? "pixel_shuffle" : "patch_merger");
    if (isIntern) {
        set("vision.image_size", text(vision["image_size"]));
        set("vision.merge", "2");
        set("vision.class_token", "true");
        set("vision.learned_positions", "true");
    } else if (contains(type, "Qwen3-VL")) {
        set("vision.deepstack_layers", "3");
    }
    m_case.missing.clear();
}

} // namespace headroom::accuracy
