// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/case_fields.h"

#include "plan/fields.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace headroom::accuracy {

std::string text(const YAML::Node& node)
{
    return node && node.IsScalar() ? node.Scalar() : std::string{};
}

/// The words of a node, whatever its shape.
std::string words(const YAML::Node& node)
{
    if (!node || node.IsNull()) {
        return {};
    }
    return node.IsScalar() ? node.Scalar() : YAML::Dump(node);
}

bool contains(std::string_view haystack, std::string_view needle)
{
    return haystack.find(needle) != std::string_view::npos;
}

void CaseFields::set(std::string_view field, const std::string& value)
{
    if (value.empty() || value == "null") {
        return;
    }
    if (auto done = setField(m_case.plan, field, value, Origin{OriginKind::ConfigFile, 0, nullptr}); !done) {
        throw std::runtime_error(done.error().english());
    }
}

void CaseFields::readModel()
{
    const YAML::Node model = m_node["model"];
    for (const auto& [key, field] : std::array<std::pair<const char*, const char*>, 11>{{
             {"layers", "model.layers"},
             {"hidden", "model.hidden"},
             {"ffn", "model.ffn"},
             {"gated_mlp", "model.gated_mlp"},
             {"heads", "model.heads"},
             {"kv_heads", "model.kv_heads"},
             {"head_dim", "model.head_dim"},
             {"vocab", "model.vocab"},
             {"padded_vocab", "model.padded_vocab"},
             {"tied_embeddings", "model.tied_embeddings"},
             {"seq", "batch.seq"},
         }}) {
        set(field, text(model[key]));
    }
    const std::string name = text(model["name"]);
    if (contains(name, "Qwen2") || contains(name, "Qwen1.5") || contains(name, "Qwen-")) {
        set("model.attn_bias", "true");
        set("model.attn_out_bias", "false");
    }
    set("model.qk_norm", contains(name, "Qwen3") ? "true" : "false");
    if (const YAML::Node moe = model["moe"]; moe && moe.IsMap()) {
        for (const auto& [key, field] : std::array<std::pair<const char*, const char*>, 6>{{
                 {"experts", "moe.experts"},
                 {"topk", "moe.topk"},
                 {"expert_ffn", "moe.ffn"},
                 {"shared_expert_ffn", "moe.shared_ffn"},
                 {"shared_experts", "moe.shared_experts"},
                 {"dense_layers", "moe.first_dense_layers"},
             }}) {
            set(field, text(moe[key]));
        }
    }
    if (const YAML::Node vision = model["vision"]; vision && vision.IsMap()) {
        readVision(vision);
    }
}

void CaseFields::readVision(const YAML::Node& vision)
{
    for (const char* key : {"layers", "hidden", "ffn", "gated_mlp", "heads", "patch", "temporal_patch"}) {
        set(std::string("vision.") + key, text(vision[key]));
    }
    set("vision.merge", text(vision["spatial_merge"]));
    if (text(vision["gated_mlp"]) == "true") {
        set("vision.layer_norm", "false"); // Qwen2.5-VL
    }
    const std::string frozen = text(vision["frozen"]);
    const bool isQwenVl = contains(text(vision["type"]), "resampler");
    set("frozen.vision", isQwenVl || !frozen.starts_with("false") ? "true" : "false");
    set("frozen.projector", isQwenVl || !text(vision["aligner_frozen"]).starts_with("false") ? "true" : "false");
    if (isQwenVl) {
        set("projector.type", "resampler");
        set("projector.layers", "1");
        set("vision.image_size", text(vision["image_size"]));
        set("vision.tokens_per_image", text(vision["tokens_per_image"]));
        set("vision.learned_positions", "true");
        set("vision.extra_norms", "1");
    } else if (const std::string video = text(vision["video"]); !video.empty() && video != "null") {
        readVideo(vision, std::stoll(video));
    } else {
        m_case.missing = "sizes of the images";
    }
}

/// qwen_vl_utils/vision_process.py: a frame has at least 1.05 times 128 merged patches of 28 by 28 pixels; frames
/// go in pairs. Texts are short beside them.
void CaseFields::readVideo(const YAML::Node& vision, long long pixels)
{
    const long long side = std::stoll(text(vision["patch"]));
    const long long merge = std::stoll(text(vision["spatial_merge"]));
    const long long frames = m_node["env"]["FPS_MAX_FRAMES"] ? m_node["env"]["FPS_MAX_FRAMES"].as<long long>() : 12;
    const long long pair = std::stoll(text(vision["temporal_patch"]));
    const long long patches = std::max(pixels, 128 * 28 * 28 * 105LL / 100) / (side * side) * frames / pair;
    set("projector.type", "patch_merger");
    set("vision.tokens_per_image", std::to_string(patches / (merge * merge)));
    set("batch.seq", std::to_string(patches / (merge * merge)));
}

void CaseFields::readBatchAndParallel()
{
    set("batch.micro", text(m_node["micro_batch"]));
    set("batch.accum", text(m_node["grad_accum"]));
    set("batch.global", text(m_node["global_batch"]));
    const YAML::Node parallel = m_node["parallel"];
    for (const char* key : {"dp", "tp", "pp", "cp", "sp"}) {
        set(std::string("parallel.") + key, text(parallel[key]));
    }
    const YAML::Node sharding = m_node["sharding"];
    set("shard.zero_stage", text(sharding["zero_stage"]));
    if (sharding["fsdp"] && !sharding["fsdp"].IsNull()) {
        set("shard.fsdp", "true");
    }
    if (sharding["offload"] && !sharding["offload"].IsNull()) {
        set("shard.offload_params", "true");
    }
    const std::string gpu = text(m_node["gpu"]);
    for (const auto& [word, gib] :
         {std::pair{"16GB", 16}, std::pair{"24GB", 24}, std::pair{"32GB", 32}, std::pair{"48GB", 48},
          std::pair{"40GB", 40}, std::pair{"80GB", 80}, std::pair{"96GB", 96}, std::pair{"141GB", 141}}) {
        if (contains(gpu, word)) {
            set("hardware.capacity_bytes", std::to_string(std::int64_t{gib} << 30));
        }
    }
    set("hardware.compute_capability",
        contains(gpu, "H100") || contains(gpu, "H200") ? "9"
            : contains(gpu, "B200")                    ? "10"
            : contains(gpu, "V100")                    ? "7"
                                                       : "8");
}

void CaseFields::readRecompute()
{
    const std::string granularity = text(m_node["recompute"]["granularity"]);
    if (granularity == "unknown") {
        return; // the framework's default, which its reader knows
    }
    set("recompute.enabled", granularity == "none" ? "false" : "true");
    set("recompute.granularity", granularity);
}

void CaseFields::setState(const std::string& parameters, const std::string& gradients, const std::string& master,
                          const std::string& moments)
{
    set("precision.params", parameters);
    set("precision.grads", gradients);
    set("precision.master", master);
    set("precision.opt_m", moments);
    set("precision.opt_v", moments);
}

/// The blocks are compiled where the case says so; the loss since early 2025; later it is computed in chunks

} // namespace headroom::accuracy
