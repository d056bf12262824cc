// SPDX-License-Identifier: GPL-3.0-or-later
#include "accuracy/megatron_flags.h"

#include "plan/fields.h"

#include <map>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace headroom::accuracy {

namespace {

using Json = nlohmann::json;

/// Flags whose value is the field's.
const std::map<std::string_view, std::string_view> valueFlags{
    {"num-layers", "model.layers"},
    {"encoder-num-layers", "model.encoder_layers"},
    {"decoder-num-layers", "model.decoder_layers"},
    {"hidden-size", "model.hidden"},
    {"ffn-hidden-size", "model.ffn"},
    {"num-attention-heads", "model.heads"},
    {"kv-channels", "model.head_dim"},
    {"max-position-embeddings", "model.max_pos"},
    {"make-vocab-size-divisible-by", "model.vocab_pad_multiple"},
    {"attention-dropout", "model.attn_dropout"},
    {"hidden-dropout", "model.hidden_dropout"},
    {"rotary-percent", "model.rotary_fraction"},
    {"mtp-num-layers", "model.mtp_layers"},
    {"hybrid-layer-pattern", "model.layer_pattern"},
    {"num-experts", "moe.experts"},
    {"moe-router-topk", "moe.topk"},
    {"moe-ffn-hidden-size", "moe.ffn"},
    {"moe-shared-expert-intermediate-size", "moe.shared_ffn"},
    {"moe-expert-capacity-factor", "moe.capacity_factor"},
    {"moe-latent-size", "moe.latent"},
    {"moe-token-dispatcher-type", "moe.dispatcher"},
    {"moe-router-dtype", "moe.router_dtype"},
    {"q-lora-rank", "mla.q_lora_rank"},
    {"micro-batch-size", "batch.micro"},
    {"global-batch-size", "batch.global"},
    {"seq-length", "batch.seq"},
    {"encoder-seq-length", "batch.seq"},
    {"decoder-seq-length", "batch.decoder_seq"},
    {"tensor-model-parallel-size", "parallel.tp"},
    {"pipeline-model-parallel-size", "parallel.pp"},
    {"context-parallel-size", "parallel.cp"},
    {"expert-model-parallel-size", "parallel.ep"},
    {"expert-tensor-parallel-size", "parallel.etp"},
    {"num-layers-per-virtual-pipeline-stage", "parallel.layers_per_vstage"},
    {"num-virtual-stages-per-pipeline-rank", "parallel.vpp"},
    {"microbatch-group-size-per-virtual-pipeline-stage", "parallel.vpp_group"},
    {"pipeline-model-parallel-layout", "parallel.layout"},
    {"decoder-first-pipeline-num-layers", "parallel.first_stage_layers"},
    {"decoder-last-pipeline-num-layers", "parallel.last_stage_layers"},
    {"num-distributed-optimizer-instances", "shard.dist_opt_instances"},
    {"fp8-recipe", "precision.fp8"},
    {"optimizer", "optimizer.name"},
    {"recompute-granularity", "recompute.granularity"},
    {"recompute-method", "recompute.method"},
    {"recompute-modules", "recompute.modules"},
    {"recompute-num-layers", "recompute.num_layers"},
    {"attention-backend", "attention.impl"},
};

/// Switches, with the value their presence means.
const std::map<std::string_view, std::pair<std::string_view, std::string_view>> switchFlags{
    {"sequence-parallel", {"parallel.sp", "true"}},
    {"use-distributed-optimizer", {"shard.dist_opt", "true"}},
    {"use-megatron-fsdp", {"shard.fsdp", "true"}},
    {"swiglu", {"model.gated_mlp", "true"}},
    {"squared-relu", {"model.activation", "squared_relu"}},
    {"qk-layernorm", {"model.qk_norm", "true"}},
    {"account-for-embedding-in-pipeline-split", {"parallel.embed_in_split", "true"}},
    {"account-for-loss-in-pipeline-split", {"parallel.loss_in_split", "true"}},
    {"no-gradient-accumulation-fusion", {"implementation.grad_accum_fusion", "false"}},
    {"no-rope-fusion", {"implementation.rope_fusion", "false"}},
    {"no-masked-softmax-fusion", {"implementation.masked_softmax_fusion", "false"}},
    {"no-create-attention-mask-in-dataloader", {"implementation.loader_mask", "false"}},
    {"deterministic-mode", {"implementation.deterministic", "true"}},
    {"tp-comm-overlap", {"implementation.tp_comm_overlap", "true"}},
    {"bert-no-binary-head", {"model.binary_head", "false"}},
    {"moe-grouped-gemm", {"moe.grouped_gemm", "true"}},
    {"moe-permute-fusion", {"moe.permute_fusion", "true"}},
    {"moe-pad-expert-input-to-capacity", {"moe.pad_to_capacity", "true"}},
    {"no-bias-swiglu-fusion", {"implementation.swiglu_fusion", "false"}},
    {"overlap-moe-expert-parallel-comm", {"implementation.expert_comm_overlap", "true"}},
    {"fp8-param-gather", {"precision.fp8_params", "true"}},
};

/// Flags that change what is allocated and that no field says.
constexpr std::string_view unsupported[]{"is-hybrid-model",
                                         "fine-grained-activation-offloading",
                                         "export-kd-cfg",
                                         "language-model-checkpoint",
                                         "model-provider",
                                         "img-h",
                                         "cuda-graph-impl",
                                         "grad-reduce-in-bf16",
                                         "main-grads-dtype",
                                         "exp-avg-dtype",
                                         "use-precision-aware-optimizer"};

std::string textOf(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

class FlagReader
{
public:
    explicit FlagReader(const Json& flags)
        : m_flags(flags)
    {
    }

    FlagReading read()
    {
        for (const auto& [flag, value] : m_flags.items()) {
            readFlag(std::string_view(flag).substr(2), value);
        }
        readModel();
        readVocabulary();
        readPrecision();
        readRest();
        readExperts();
        readLatentAttention();
        readContext();
        if (text("optimizer", "adam") != "adam") {
            m_reading.notUnderstood.emplace_back("--optimizer " + text("optimizer"));
        }
        return std::move(m_reading);
    }

private:
    [[nodiscard]] bool has(std::string_view flag) const { return m_flags.contains("--" + std::string(flag)); }
    [[nodiscard]] std::string text(std::string_view flag, std::string_view otherwise = {}) const
    {
        return has(flag) ? textOf(m_flags.at("--" + std::string(flag))) : std::string(otherwise);
    }
    void set(std::string_view field, std::string_view value)
    {
        if (auto done = setField(m_reading.plan, field, value, Origin{OriginKind::ConfigFile, 0, nullptr}); !done) {
            throw std::runtime_error(done.error().english());
        }
    }

    void readFlag(std::string_view flag, const Json& value)
    {
        if (const auto found = valueFlags.find(flag); found != valueFlags.end()) {
            set(found->second, textOf(value));
        } else if (const auto asSwitch = switchFlags.find(flag); asSwitch != switchFlags.end()) {
            set(asSwitch->second.first, asSwitch->second.second);
        } else {
            for (const std::string_view name : unsupported) {
                if (flag == name) {
                    m_reading.notUnderstood.emplace_back("--" + std::string(flag));
                }
            }
        }
    }

    void readModel()
    {
        ModelPlan& model = m_reading.plan.model;
        const std::string family = has("encoder-seq-length") ? "t5" : isBert() ? "bert" : "decoder";
        set("model.family", family);
        if (family == "t5") {
            set("model.layers", text("encoder-num-layers"));
        }
        const std::int64_t hidden = model.hidden.value;
        if (!has("ffn-hidden-size")) {
            // Two thirds of 4h in steps of 64 with a gate.
            set("model.ffn", std::to_string(has("swiglu") ? hidden * 8 / 3 / 64 * 64 : 4 * hidden));
        }
        if (has("group-query-attention")) {
            set("model.kv_heads", text("num-query-groups", "1"));
        }
        const bool hasBias = !has("disable-bias-linear");
        for (const std::string_view field : {"model.attn_bias", "model.attn_out_bias", "model.mlp_bias"}) {
            set(field, hasBias ? "true" : "false");
        }
        const std::string positions = text("position-embedding-type", "learned_absolute");
        set("model.learned_positions", positions == "learned_absolute" ? "true" : "false");
        set("model.rope", positions == "rope" ? "true" : "false");
        set("model.layer_norm", text("normalization", "LayerNorm") == "LayerNorm" ? "true" : "false");
        set("model.tied_embeddings", has("untie-embeddings-and-output-weights") ? "false" : "true");
        for (const auto& [flag, field] : {std::pair{"attention-dropout", "model.attn_dropout"},
                                          std::pair{"hidden-dropout", "model.hidden_dropout"}}) {
            if (!has(flag)) {
                set(field, "0.1");
            }
        }
    }

    /// The functional tests of BERT all train 512 tokens with 512 positions.
    [[nodiscard]] bool isBert() const
    {
        return text("seq-length") == "512" && text("max-position-embeddings") == "512";
    }

    /// The tokenizer's size, where the flags do not state it, and what the wrappers add (theory_dense.md rule 1).
    void readVocabulary()
    {
        const std::string tokenizer = text("tokenizer-type");
        const std::string& family = m_reading.plan.model.family.value;
        std::int64_t vocab = tokenizer == "GPTSentencePieceTokenizer" ? 256000
            : tokenizer == "Llama2Tokenizer"                          ? 32000
            : family == "decoder"                                     ? 50257
                                                                      : 28996;
        if (has("vocab-size")) {
            vocab = std::stoll(text("vocab-size"));
        }
        vocab += tokenizer == "NullTokenizer" ? 1 : 0; // end of document
        if (family != "decoder") {
            vocab += 2 + std::stoll(text("vocab-extra-ids", "0")); // [BOS], [EOS]
        }
        set("model.vocab", std::to_string(vocab));
        if (!has("make-vocab-size-divisible-by")) {
            set("model.vocab_pad_multiple", "128");
        }
    }

    void readPrecision()
    {
        set("precision.recipe", has("bf16") ? "megatron-bf16" : has("fp16") ? "megatron-fp16" : "fp32");
        if (has("fp8-format") && !has("fp8-recipe")) {
            set("precision.fp8", "delayed");
        }
    }

    void readRest()
    {
        const bool isLocal = text("transformer-impl") == "local" || text("spec") == "local";
        set("implementation.profile", isLocal ? "megatron-local" : "megatron-te");
        if (has("recompute-granularity")) {
            set("recompute.enabled", "true");
            if (text("recompute-granularity") == "selective") {
                m_reading.plan.recompute.numLayers = {};
            }
        }
        if (has("cross-entropy-loss-fusion")) {
            set("implementation.fused_loss", text("cross-entropy-fusion-impl", "native"));
        }
        if (has("defer-embedding-wgrad-compute")) {
            set("implementation.deferred_wgrads", text("wgrad-deferral-limit", "0"));
        }
        if (has("step-batch-size-schedule")) { // "0:384 200B:768": what the run starts with
            const std::string schedule = text("step-batch-size-schedule");
            const std::size_t colon = schedule.find(':') + 1;
            set("batch.global", schedule.substr(colon, schedule.find(' ') - colon));
        }
    }

    void readExperts()
    {
        if (!has("num-experts")) {
            return;
        }
        if (!has("moe-router-topk")) {
            set("moe.topk", "2");
        }
        // A period, or a list expression like ([0]*3+[1]*58).
        const std::string frequency = text("moe-layer-freq", "1");
        static const std::regex denseFirst(R"(\(\[0\]\*(\d+)\+\[1\]\*\d+\))");
        std::smatch match;
        if (std::regex_match(frequency, match, denseFirst)) {
            set("moe.first_dense_layers", match[1].str());
        } else if (frequency.find_first_not_of("0123456789") == std::string::npos) {
            set("moe.layer_freq", frequency);
        } else {
            m_reading.notUnderstood.emplace_back("--moe-layer-freq");
        }
    }

    void readLatentAttention()
    {
        if (!has("multi-latent-attention")) {
            return;
        }
        for (const auto& [flag, field, otherwise] : {std::tuple{"kv-lora-rank", "mla.kv_lora_rank", "512"},
                                                     std::tuple{"qk-head-dim", "mla.qk_nope_dim", "128"},
                                                     std::tuple{"qk-pos-emb-head-dim", "mla.qk_rope_dim", "64"},
                                                     std::tuple{"v-head-dim", "mla.v_dim", "128"}}) {
            set(field, text(flag, otherwise));
        }
    }

    /// "p2p" or ["a2a+p2p"]; "2 2" or ["2 2"].
    void readContext()
    {
        const auto firstWord = [](std::string value) {
            std::erase_if(value,
                          [](char letter) { return std::string_view("[]\"").find(letter) != std::string_view::npos; });
            return value.substr(0, value.find_first_of(" ,"));
        };
        if (has("cp-comm-type")) {
            set("parallel.cp_comm", firstWord(text("cp-comm-type")));
        }
        if (has("hierarchical-context-parallel-sizes")) {
            set("parallel.cp_inner", firstWord(text("hierarchical-context-parallel-sizes")));
        }
    }

    const Json& m_flags;
    FlagReading m_reading;
};

} // namespace

FlagReading planFromMegatronFlags(const Json& flags)
{
    return FlagReader(flags).read();
}

void applyRunFacts(const RunFacts& facts, TrainingPlan& plan)
{
    const auto set = [&plan](std::string_view field, std::string_view value) {
        if (auto done = setField(plan, field, value, Origin{OriginKind::Log, 0, nullptr}); !done) {
            throw std::runtime_error(done.error().english());
        }
    };
    const std::string words = facts.environment + ' ' + facts.platform;
    const auto says = [&words](std::string_view word) { return words.find(word) != std::string::npos; };
    set("parallel.world", std::to_string(facts.world));
    const bool isBlackwell = says("gb200") || says("b200");
    set("hardware.gpu", isBlackwell ? "gb200" : says("h100") ? "h100-80gb" : "a100-80gb");
    const bool isOld = says("dracooci");
    const bool isCurrent = says("dev");
    set("implementation.placeholder_grads", isCurrent ? "true" : "false");
    set("implementation.saved_padding_mask", isCurrent ? "true" : "false");
    if (isOld && !isCurrent && (!plan.attention.impl.isKnown() || plan.attention.impl.value == "auto")) {
        set("attention.impl", "unfused"); // flash attention was switched off in those runs
    }
    if (isBlackwell && !plan.implementation.deterministic.value) {
        set("implementation.cublas_workspace_bytes", "8519680"); // PyTorch before it knew Blackwell
    }
}

} // namespace headroom::accuracy
