// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/block_parameters.h"

namespace headroom {

namespace {

constexpr ModuleNames gpt2{.blocks = "transformer.h.",
                           .table = "transformer.wte",
                           .norm = "transformer.ln_f",
                           .query = "attn.c_attn",
                           .key = "attn.c_attn",
                           .value = "attn.c_attn",
                           .output = "attn.c_proj",
                           .gate = "mlp.c_fc",
                           .up = "mlp.c_fc",
                           .down = "mlp.c_proj",
                           .firstNorm = "ln_1",
                           .secondNorm = "ln_2"};
constexpr ModuleNames gptNeoX{.blocks = "gpt_neox.layers.",
                              .table = "gpt_neox.embed_in",
                              .norm = "gpt_neox.final_layer_norm",
                              .head = "embed_out",
                              .query = "attention.query_key_value",
                              .key = "attention.query_key_value",
                              .value = "attention.query_key_value",
                              .output = "attention.dense",
                              .gate = "mlp.dense_h_to_4h",
                              .up = "mlp.dense_h_to_4h",
                              .down = "mlp.dense_4h_to_h"};

constexpr ModuleNames nemotronH{.blocks = "backbone.layers.",
                                .table = "backbone.embeddings",
                                .norm = "backbone.norm_f",
                                .query = "mixer.q_proj",
                                .key = "mixer.k_proj",
                                .value = "mixer.v_proj",
                                .output = "mixer.o_proj",
                                .gate = "mixer.gate_proj",
                                .up = "mixer.up_proj",
                                .down = "mixer.down_proj",
                                .router = "mixer.gate",
                                .experts = "mixer.experts.",
                                .shared = "mixer.shared_experts",
                                .stateSpace = "mixer.",
                                .firstNorm = "norm"};

std::vector<NamedParameter> attentionParameters(const Architecture& model, const ModuleNames& names)
{
    using enum TrainedParts::Part;
    if (model.isMla) {
        const std::int64_t queries = model.heads * (model.nopeDim + model.ropeDim);
        std::vector<NamedParameter> result;
        if (model.qLoraRank > 0) {
            result = {{"self_attn.q_a_proj", QueryLatent, elementsOf(model.hidden, model.qLoraRank)},
                      {"self_attn.q_a_layernorm", QueryNorm, static_cast<double>(model.qLoraRank)},
                      {"self_attn.q_b_proj", Query, elementsOf(model.qLoraRank, queries)}};
        } else {
            result = {{std::string(names.query), Query, elementsOf(model.hidden, queries)}};
        }
        result.push_back(
            {"self_attn.kv_a_proj_with_mqa", Key, elementsOf(model.hidden, model.kvLoraRank + model.ropeDim)});
        result.push_back({"self_attn.kv_a_layernorm", KeyNorm, static_cast<double>(model.kvLoraRank)});
        result.push_back({"self_attn.kv_b_proj", Value,
                          elementsOf(model.kvLoraRank, model.heads * (model.nopeDim + model.valueDim))});
        result.push_back({std::string(names.output), Output, elementsOf(model.heads * model.valueDim, model.hidden)});
        return result;
    }
    const std::int64_t queries = model.heads * model.headDim;
    const std::int64_t keys = model.groups * model.headDim;
    std::vector<NamedParameter> result{
        {std::string(names.query), Query, elementsOf(model.hidden, queries * (model.attnGate ? 2 : 1))},
        {std::string(names.key), Key, elementsOf(model.hidden, keys)},
        {std::string(names.value), Value, elementsOf(model.hidden, keys)},
        {std::string(names.output), Output, elementsOf(queries, model.hidden)}};
    if (model.qkNorm) {
        result.push_back({"self_attn.q_norm", QueryNorm, static_cast<double>(model.headDim)});
        result.push_back({"self_attn.k_norm", KeyNorm, static_cast<double>(model.headDim)});
    }
    return result;
}

/// Numbers of a head or channel stand for each other.
std::vector<NamedParameter> mixerParameters(const Architecture& model, const ModuleNames& names, Mixer kind)
{
    using enum TrainedParts::Part;
    const LinearMixer& mixer = model.mixer;
    const std::string in(kind == Mixer::DeltaNet ? names.deltaNet : names.stateSpace);
    const bool isFirst = kind == Mixer::Mamba;
    const std::int64_t values = mixer.values(), convolved = isFirst ? values : mixer.convolved(kind);
    std::vector<NamedParameter> result{
        {in + (kind == Mixer::DeltaNet ? "in_proj_qkvz" : "in_proj"), MixerIn,
         elementsOf(model.hidden, isFirst ? 2 * values : mixer.projected(kind))},
        {in + "conv1d", MixerConv, elementsOf(convolved, mixer.conv + (mixer.hasConvBias ? 1 : 0))},
    };
    if (isFirst) {
        result.push_back({in + "x_proj", MixerSteps, elementsOf(values, mixer.timeRank + 2 * mixer.state)});
        result.push_back({in + "dt_proj", MixerSteps, elementsOf(values, mixer.timeRank + 1)});
        result.push_back({in + "A_log", MixerScan, elementsOf(values, mixer.state + 1)});
        result.push_back({in + "dt_layernorm", MixerNorm, static_cast<double>(mixer.timeRank + 2 * mixer.state)});
    } else {
        const bool isStateSpace = kind == Mixer::Mamba2;
        result.push_back({in + "A_log", MixerScan, elementsOf(isStateSpace ? 3 : 2, mixer.heads)});
        result.push_back({in + "norm", MixerNorm, static_cast<double>(isStateSpace ? values : mixer.headDim)});
    }
    result.push_back({in + "out_proj", MixerOut, elementsOf(values, model.hidden)});
    return result;
}

/// `experts`: the names of one of them, with its number.
void addExperts(const Architecture& model, const ModuleNames& names, std::vector<NamedParameter>& result)
{
    using enum TrainedParts::Part;
    result.push_back({std::string(names.router), Router, elementsOf(model.hidden, model.experts)});
    const double expert = elementsOf(model.hidden, model.expertFfn) * static_cast<double>(model.experts);
    if (model.gate > 1) {
        result.push_back({std::string(names.expertGate), ExpertGate, expert});
    }
    result.push_back({std::string(names.expertUp), ExpertUp, expert});
    result.push_back({std::string(names.expertDown), ExpertDown, expert});
    if (model.sharedFfn > 0) {
        const double shared = elementsOf(model.hidden, model.sharedFfn);
        const std::string name(names.shared);
        if (model.gate > 1) {
            result.push_back({name + ".gate_proj", SharedGate, shared});
        }
        result.push_back({name + ".up_proj", SharedUp, shared});
        result.push_back({name + ".down_proj", SharedDown, shared});
        if (model.sharedGate) {
            result.push_back({"mlp.shared_expert_gate", SharedOpening, static_cast<double>(model.hidden)});
        }
    }
}

/// Versions of a model differ in what stands in front; the names that the expressions themselves use decide.
ModuleNames namesIn(std::string_view expressions)
{
    const auto mentions = [expressions](std::string_view word) { return expressions.find(word) != word.npos; };
    if (mentions("transformer.h") || mentions(R"(transformer\.h)")) {
        return gpt2;
    }
    if (mentions("gpt_neox")) {
        return gptNeoX;
    }
    if (mentions("backbone")) {
        return nemotronH;
    }
    ModuleNames names;
    if (mentions("feed_forward") || mentions("pre_ff_layernorm")) { // Jamba's and Bamba's
        names.gate = "feed_forward.gate_proj";
        names.up = "feed_forward.up_proj";
        names.down = "feed_forward.down_proj";
        names.router = "feed_forward.router";
        names.experts = "feed_forward.experts.";
        names.secondNorm = "pre_ff_layernorm";
    }
    if (mentions("language_model.model") || mentions(R"(language_model\.model)")) {
        names.blocks = "language_model.model.layers.";
        names.table = "language_model.model.embed_tokens";
        names.norm = "language_model.model.norm";
        names.head = "language_model.lm_head";
    } else if (mentions("language_model")) {
        names.blocks = "model.language_model.layers.";
        names.table = "model.language_model.embed_tokens";
        names.norm = "model.language_model.norm";
    }
    if (mentions("block_sparse_moe")) {
        names.router = "block_sparse_moe.gate";
        names.experts = "block_sparse_moe.experts.";
        names.expertGate = ".w1";
        names.expertUp = ".w3";
        names.expertDown = ".w2";
    }
    if (mentions("model.visual") || mentions(R"(model\.visual)")) {
        names.tower = "model.visual.blocks.";
        names.projector = "model.visual.merger.mlp.0";
    } else if (mentions("vision_tower") || mentions("multi_modal_projector")) {
        names.tower = "vision_tower.vision_model.encoder.layers.";
        names.projector = "multi_modal_projector.linear_1";
    }
    return names;
}

} // namespace

ModuleNames namesFor(const TrainingPlan& plan)
{
    const ModuleNames own = megatronNames(plan);
    return own.isMegatronCore ? own : namesIn(plan.frozen.patterns.value + " " + plan.frozen.trained.value);
}

std::vector<NamedParameter> blockParameters(const Architecture& model, const ModuleNames& names, LayerKind kind)
{
    if (names.isMegatronCore) {
        return megatronBlockParameters(model, names, kind);
    }
    using enum TrainedParts::Part;
    std::vector<NamedParameter> result;
    if (kind.mixer != Mixer::None) {
        result = kind.mixer == Mixer::Attention ? attentionParameters(model, names)
                                                : mixerParameters(model, names, kind.mixer);
    }
    if (kind.feedForward == FeedForward::Experts) {
        addExperts(model, names, result);
    } else if (kind.feedForward == FeedForward::Mlp) {
        const double matrix = elementsOf(model.hidden, model.ffn);
        if (model.gate > 1) {
            result.push_back({std::string(names.gate), Gate, matrix});
        }
        result.push_back({std::string(names.up), Up, matrix});
        result.push_back({std::string(names.down), Down, matrix});
    }
    result.push_back({std::string(names.firstNorm), FirstNorm, static_cast<double>(model.hidden)});
    if (model.blockNorms > 1 && kind.halves() > 1) {
        result.push_back({std::string(names.secondNorm), SecondNorm, static_cast<double>(model.hidden)});
    }
    return result;
}

} // namespace headroom
