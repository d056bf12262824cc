// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/case_reader.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::accuracy {

void CaseReader::read()
{
    readModel();
    readBatchAndParallel();
    readRecompute();
    const std::string& framework = m_case.framework;
    if (contains(framework, "torchtitan")) {
        readTorchtitan();
    } else if (framework == "torchtune") {
        readTorchtune();
    } else if (framework == "prime-rl") {
        readPrimeRl();
    } else if (framework == "LitGPT") {
        readLitGpt();
    } else if (framework == "InternEvo") {
        readInternEvo();
    } else if (contains(framework, "VocabularyParallelism")) {
        readVocabularyParallelism();
    } else if (contains(framework, "Kwai")) {
        readKwai();
    } else if (contains(framework, "Galvatron")) {
        readGalvatron();
    } else if (contains(framework, "Qwen")) {
        readQwen();
    } else if (contains(framework, "PEFT")) {
        readPeft();
    } else if (contains(framework, "Argonne")) {
        readArgonne();
    } else if (contains(framework, "Megatron")) {
        readGptPipeline();
    } else {
        readSwift();
    }
}

/// (theory_frameworks.md section 4). Where the policy is not named it is that of the model's shipped config, selective
/// by operator (train_configs/llama3_8b.toml, later models/llama3/config_registry.py).
void CaseReader::readTorchtitan()
{
    if (text(m_node["recompute"]["granularity"]) == "unknown") {
        set("recompute.enabled", "true");
        set("recompute.granularity", "selective");
    }
    set("implementation.profile", "torchtitan");
    setState("fp32", "fp32", "none", "fp32");
    set("precision.reduce", "fp32");
    const std::string version = words(m_node["version"]);
    readTorchtitanPipeline();
    // run_train.sh sets it; the six selective runs of 2024 are met without (within 1 %) and not with it (3 %).
    set("implementation.expandable_segments", contains(version, "9dec370") ? "false" : "true");
    if (const std::string precision = text(m_node["precision"]);
        contains(precision, "mxfp8") || contains(precision, "MXFP8")) {
        set("precision.fp8", "mxfp8");
    } else if (contains(precision, "fp8")) {
        set("precision.fp8", "tensorwise");
        set("precision.fp8_params", contains(precision, "fp8 all-gather") ? "true" : "false");
    }
    const bool isCompiled
        = (contains(m_notes, "compile") || contains(m_case.id, "compile")) && !contains(m_notes, "no compile");
    set("implementation.compile", isCompiled ? "true" : "false");
    const bool isOf2025 = contains(version, "e7c0cae"), isChunked = contains(m_notes, "loss computed in 8 chunks");
    const bool isBeforeGroups = contains(version, "9dec370") || isOf2025;
    if (isChunked) {
        set("implementation.fused_loss", "chunked");
        set("implementation.loss_chunks", "8");
    }
    set("implementation.separate_tables", isBeforeGroups ? "false" : "true");
    if (isCompiled && (contains(version, "main") || isChunked || isOf2025)) {
        set("implementation.compiled_loss", "true");
    }
    if (contains(text(m_node["source"]), "mxfp8.md")) {
        // On Blackwell attention is cuDNN's, which the policy did not list before release 0.2.1 of December 2025
        // (models/attention.py, _init_backend; llama3/infra/parallelize.py, _op_sac_save_list).
        set("recompute.modules", "core_attn");
    }
}

/// The local batch is split into as many micro-batches as there are stages, the default; two chunks a stage where
/// they interleave; embedding and output layer are counted as layers.
void CaseReader::readTorchtitanPipeline()
{
    const int stages = m_node["parallel"]["pp"] ? m_node["parallel"]["pp"].as<int>() : 1;
    if (stages < 2) {
        return;
    }
    const std::string schedule = text(m_node["parallel"]["schedule"]);
    const int chunks = schedule == "1F1B" ? 1 : 2;
    const int local = m_node["micro_batch"].as<int>();
    const int parts = std::min(stages * chunks, local);
    set("batch.micro", std::to_string(local / parts));
    set("batch.accum", std::to_string(parts));
    set("parallel.vpp", std::to_string(chunks));
    set("parallel.schedule", chunks == 1 ? "1f1b" : "interleaved");
    set("parallel.embed_in_split", "true");
    set("parallel.loss_in_split", "true");
    if (contains(schedule, "ZeroBubble")) {
        m_case.missing = "this pipeline schedule in the profile torchtitan";
    }
}

/// Four slots for adapters, of which the benchmark trains one; two micro-batches a step.
void CaseReader::readPrimeRl()
{
    set("implementation.profile", "prime-rl");
    setState("fp32", "fp32", "none", "fp32");
    set("precision.reduce", "fp32");
    if (contains(words(m_node["recompute"]["note"]), "offload")) {
        set("recompute.offload_inputs", "true");
    }
    if (m_case.kind != "sft") {
        set("implementation.fused_loss", "chunked");
    }
    if (text(m_node["date"]) >= "2026-06") { // refreshed at c5afcaa2e, which has both on unless told otherwise
        set("shard.offload_optimizer", "true");
        set("recompute.offload_inputs", "true");
    }
    if (contains(m_case.kind, "LoRA")) {
        set("lora.rank", "16");
        set("lora.slots", "4");
        set("lora.adapter_type", "fp32");
    }
}

void CaseReader::readLitGpt()
{
    set("implementation.profile", "litgpt");
    setState(contains(words(m_node["precision"]), "nf4") ? "nf4" : "bf16", "bf16", "none", "bf16");
    set("implementation.keeps_logits", "true");
    const long long chunks = (m_node["micro_batch"].as<long long>() * m_node["model"]["seq"].as<long long>()) / 128;
    set("implementation.loss_chunks", std::to_string(std::max(chunks, 1LL)));
    set("lora.rank", contains(m_notes, "LoRA rank 32") ? "32" : "8");
    if (m_node["n_gpus"].as<int>() == 1) {
        set("recompute.enabled", "false"); // the strategy of several GPUs alone asks for it
    }
    set("lora.targets", "q_proj, v_proj");
    set("lora.dropout", "0.05");
    if (contains(text(m_node["model"]["name"]), "StableLM")) { // config.py: LayerNorm, parallel_residual
        set("model.layer_norm", "true");
        set("model.parallel_block", "true");
    }
    if (m_node["n_gpus"].as<int>() > 1) {
        m_case.missing = "how the loader gathers the weights, which is its peak";
    }
}

void CaseReader::readInternEvo()
{
    set("implementation.profile", "internevo");
    setState("bf16", "bf16", "fp32", "fp32");
}

/// pretrain_gpt.sh: Megatron-Core with flash attention, fp16, no dropout, the distributed optimizer on one replica.
void CaseReader::readVocabularyParallelism()
{
    set("implementation.profile", "megatron-te");
    set("precision.recipe", "megatron-fp16");
    set("shard.dist_opt", "true");
    set("attention.impl", "flash");
    for (const char* field : {"model.layer_norm", "model.attn_bias", "model.mlp_bias", "model.learned_positions"}) {
        set(field, "true");
    }
    set("model.rope", "false");
    set("model.max_pos", text(m_node["model"]["seq"]));
    const std::string schedule = words(m_node["parallel"]["schedule"]);
    if (contains(schedule, "redistributed")) {
        set("parallel.layout", "4,4,4,5,5,5,5,0");
    }
    for (const auto& [word, split] : {std::pair{"variant 1", "variant1"}, std::pair{"variant 2", "variant2"},
                                      std::pair{"interlaced", "interlaced"}}) {
        if (contains(schedule, word)) {
            set("parallel.vocab_split", split);
        }
    }
}

/// examples/atc24/pretrain_llama.sh: bf16, the distributed optimizer; "balanced" recomputation rebuilds norms,
/// rotations and the MLP's activation; alpha is the offloaded share of a chunk's activations.
void CaseReader::readKwai()
{
    set("implementation.profile", "megatron-kwai");
    set("precision.recipe", "megatron-bf16");
    set("shard.dist_opt", "true");
    set("shard.offload_params", "false");
    set("parallel.layers_per_vstage", text(m_node["parallel"]["layers_per_vstage"]));
    set("model.vocab_pad_multiple", "128");
    set("model.rope", "true");
    const std::string offload = words(m_node["sharding"]["offload"]);
    if (const std::size_t alpha = offload.find("alpha="); alpha != std::string::npos) {
        set("shard.offload_activations", "true");
        set("shard.offload_activation_fraction", offload.substr(alpha + 6));
    }
    if (text(m_node["recompute"]["granularity"]) == "selective") {
        set("recompute.modules", "layernorm, mlp_act");
    }
}

/// The profiler's runs: one micro-batch, GPipe. The file of cases takes 2048 tokens; the stored input of a recomputed
/// layer, 32 MiB a sample at a width of 4096, is that of 4096.
void CaseReader::readGalvatron()
{
    set("implementation.profile", "galvatron");
    setState("fp32", "fp32", "none", "fp32");
    set("precision.reduce", "bf16");
    set("batch.seq", "4096");
    set("batch.micro", std::to_string(m_node["global_batch"].as<int>() / m_node["parallel"]["dp"].as<int>()));
    set("parallel.schedule", "gpipe");
    set("parallel.vocab_tp", contains(m_case.id, "-vtp") ? text(m_node["parallel"]["tp"]) : "1");
}

/// The README's ladder is cumulative.
void CaseReader::readTorchtune()
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

/// finetune.py of late 2023: rank 64 on c_attn, c_proj, w1, w2, AdamW of PyTorch 2.0. Adapters have the base's type
/// since PEFT 0.6 of November 2023 (tuners/lora/layer.py, update_layer), fp32 before: the table's 7B and 14B are those
/// of August and September, 1.8B came on the last of November. On GPTQ's layers DeepSpeed makes them 16-bit. All
/// weights are trained under ZeRO-3 on two GPUs, with buckets of h² ("auto"); the page does not name the stage on one,
/// for which the repository's other file is taken. Qwen-VL's is of October, leaves out the last layer of the MLP and
/// writes attention out (modeling_qwen.py).
void CaseReader::readQwen()
{
    const bool isVisual = contains(m_case.framework, "Qwen-VL");
    set("implementation.profile", isVisual ? "hf-eager" : "hf-flash");
    setState("bf16", "bf16", "none", "bf16");
    set("model.gated_mlp", "true");
    set("optimizer.impl", "foreach2");
    if (m_case.kind == "sft") {
        setState("bf16", "bf16", "fp32", "fp32");
        const bool isAlone = m_node["n_gpus"].as<int>() == 1;
        set("shard.zero_stage", isAlone ? "2" : "3");
        set("shard.reduce_bucket", isAlone ? "400000000" : "16777216"); // twice 2e8 that overlap, or 4096²
        set("implementation.fused_loss", "16bit");
        return;
    }
    set("lora.rank", "64");
    set("lora.targets",
        isVisual ? "c_attn, o_proj, gate_proj, up_proj" : "c_attn, o_proj, gate_proj, up_proj, down_proj");
    const bool isOlder = isVisual || !contains(m_case.id, "1.8b");
    set("lora.adapter_type", isOlder && m_case.kind != "qlora" ? "fp32" : "bf16");
    set("lora.dropout", "0.05");
    set("lora.trains_embeddings", contains(m_case.id, "-emb") || contains(m_case.id, "-base") ? "true" : "false");
    if (m_case.kind == "qlora") { // finetune_qlora_single_gpu.sh: DeepSpeed fp16, two overlapping buckets of 2e8
        setState("int4", "bf16", "fp32", "fp32");
        set("shard.zero_stage", "2");
        set("shard.reduce_bucket", "400000000");
        set("implementation.fused_loss", "16bit");
    }
}

/// The runs of BigScience: Megatron 2.4 without DeepSpeed, else DeepSpeed's pipeline engine.
void CaseReader::readGptPipeline()
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
    if (text(m_node["sharding"]["zero_stage"]) == "3") {
        set("recompute.offload_inputs", "true"); // the stored inputs alone would exceed the card
    }
    m_case.isFirstStep = id.ends_with("ds-on");
    if (isThreeD) {
        // DeepSpeed of June 2021 did not know Apex's Adam as fused: the log's middle stages step at 20 bytes a weight.
        set("optimizer.impl", "for-loop");
    }
    m_case.isResident = id.ends_with("ds-off"); // its peak is what it calls allocated, to the byte
    if (text(m_node["global_batch"]).empty() || text(m_node["global_batch"]) == "null") {
        set("batch.accum", "64"); // large beside the stages
    }
}

/// Argonne's Megatron-DeepSpeed trains Llama in bf16 without DeepSpeed's pipeline, which ZeRO-2 refuses.
void CaseReader::readArgonne()
{
    set("implementation.profile", "deepspeed-pipeline");
    setState("bf16", "bf16", "fp32", "fp32");
    set("attention.impl", "flash");
    set("model.rope", "true");
    set("model.vocab_pad_multiple", "128");
}

void CaseReader::readPeft()
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

void CaseReader::readSwift()
{
    set("implementation.profile", text(m_node["flash_attention"]) == "true" ? "hf-flash" : "hf-sdpa");
    const bool isSharded = m_case.plan.shard.zeroStage.value > 0;
    setState("bf16", "bf16", isSharded ? "fp32" : "none", isSharded ? "fp32" : "bf16");
    const YAML::Node arguments = m_node["raw_args"];
    if (text(arguments["use_liger_kernel"]) == "true") {
        set("implementation.fused_loss", "liger");
    }
    set("objective.type", text(arguments["rlhf_type"]));
    if (contains(m_case.id, "vit-gradient-checkpointing")) {
        set("recompute.enabled", text(m_node["recompute"]["llm"]) == "none" ? "false" : "true");
        set("recompute.granularity", text(m_node["recompute"]["llm"]));
        set("recompute.vision", text(m_node["recompute"]["vision"]) == "full" ? "true" : "false");
    } else if (m_case.missing.empty() && !contains(m_case.id, "full-train") && text(arguments["packing"]) != "true") {
        m_case.missing = "token lengths";
    }
}

} // namespace headroom::accuracy
