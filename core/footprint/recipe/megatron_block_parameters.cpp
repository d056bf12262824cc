// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of Megatron Core's blocks (transformer/attention.py, multi_latent_attention.py, mlp.py, moe/moe_layer.py).
// Transformer Engine fuses norms with the linear layer behind them, unless experts are behind it.
#include "footprint/recipe/block_parameters.h"
#include "footprint/recipe/parameters.h"
#include "footprint/tape/shape.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace headroom {

namespace {

/// Megatron Core's (models/gpt/gpt_model.py); in front of them stands where mcore-bridge 1.6 keeps the language model
/// of one with images (model/mm_gpt_model.py).
constexpr ModuleNames megatronCore{.blocks = "decoder.layers.",
                                   .table = "embedding.word_embeddings",
                                   .norm = "decoder.final_layernorm",
                                   .head = "output_layer",
                                   .experts = "mlp.experts."};
constexpr ModuleNames megatronCoreWithImages{.blocks = "language_model.decoder.layers.",
                                             .table = "language_model.embedding.word_embeddings",
                                             .norm = "language_model.decoder.final_layernorm",
                                             .head = "language_model.output_layer",
                                             .experts = "mlp.experts.",
                                             .tower = "visual.visual.blocks.",
                                             .projector = "visual.visual.merger.mlp.0"};
/// Words of names that Megatron Core does not have.
constexpr std::array<std::string_view, 21> megatronForeign{"model.layers",
                                                           R"(model\.layers)",
                                                           "transformer.h",
                                                           R"(transformer\.h)",
                                                           "gpt_neox",
                                                           "backbone",
                                                           "self_attn",
                                                           "linear_attn",
                                                           "mamba.",
                                                           "feed_forward",
                                                           "_a_proj",
                                                           "q_proj",
                                                           "k_proj",
                                                           "v_proj",
                                                           "o_proj",
                                                           "gate_proj",
                                                           "embed_tokens",
                                                           "lm_head",
                                                           "mlp.down",
                                                           "mlp.up",
                                                           "post_attention_layernorm"};

/// Whether Megatron Core's own names are meant: those of the checkpoints it was made from are told by their words.
bool namesMegatronCore(const TrainingPlan& plan)
{
    const std::string expressions = plan.frozen.patterns.value + " " + plan.frozen.trained.value;
    const bool isOthers = std::any_of(megatronForeign.begin(), megatronForeign.end(), [&](std::string_view word) {
        return expressions.find(word) != std::string::npos;
    });
    return profileOf(plan).starts_with("megatron") && !isOthers && !plan.frozen.trainedLayers.isKnown();
}

std::vector<NamedParameter> attentionParameters(const Architecture& model, bool isFused)
{
    using enum TrainedParts::Part;
    const std::int64_t queries = model.heads * (model.isMla ? model.nopeDim + model.ropeDim : model.headDim);
    const std::int64_t keys = model.groups * model.headDim;
    if (!model.isMla) {
        const std::int64_t rows = (model.attnGate ? 2 : 1) * queries + 2 * keys;
        std::vector<NamedParameter> result{
            {"self_attention.linear_proj", Output, elementsOf(queries, model.hidden)},
            {"self_attention.linear_qkv", Query | Key | Value, elementsOf(model.hidden, rows)}};
        if (model.qkNorm) {
            result.push_back({"self_attention.q_layernorm", QueryNorm, static_cast<double>(model.headDim)});
            result.push_back({"self_attention.k_layernorm", KeyNorm, static_cast<double>(model.headDim)});
        }
        return result;
    }
    std::vector<NamedParameter> result{
        {"self_attention.linear_proj", Output, elementsOf(model.heads * model.valueDim, model.hidden)}};
    if (model.qLoraRank > 0) {
        result.push_back({"self_attention.linear_q_down_proj", QueryLatent, elementsOf(model.hidden, model.qLoraRank)});
        result.push_back({isFused ? "self_attention.linear_q_up_proj.layer_norm_weight" : "self_attention.q_layernorm",
                          QueryNorm, static_cast<double>(model.qLoraRank)});
        result.push_back({"self_attention.linear_q_up_proj", Query, elementsOf(model.qLoraRank, queries)});
    } else {
        result.push_back({"self_attention.linear_q_proj", Query, elementsOf(model.hidden, queries)});
    }
    result.push_back(
        {"self_attention.linear_kv_down_proj", Key, elementsOf(model.hidden, model.kvLoraRank + model.ropeDim)});
    result.push_back({isFused ? "self_attention.linear_kv_up_proj.layer_norm_weight" : "self_attention.kv_layernorm",
                      KeyNorm, static_cast<double>(model.kvLoraRank)});
    result.push_back({"self_attention.linear_kv_up_proj", Value,
                      elementsOf(model.kvLoraRank, model.heads * (model.nopeDim + model.valueDim))});
    return result;
}

/// Of ssm/mamba_mixer.py, which stands in a layer as its mixer, and of ssm/gated_delta_net.py, which stands where
/// attention does. Numbers of a head stand for each other: A_log, D and dt_bias.
std::vector<NamedParameter> mixerParameters(const Architecture& model, Mixer kind)
{
    using enum TrainedParts::Part;
    const LinearMixer& mixer = model.mixer;
    const bool isStateSpace = kind == Mixer::Mamba2;
    const std::string in = isStateSpace ? "mixer." : "self_attention.";
    return {{in + "A_log", MixerScan, elementsOf(isStateSpace ? 3 : 2, mixer.heads)},
            {in + "in_proj", MixerIn, elementsOf(model.hidden, mixer.projected(kind))},
            {in + "conv1d", MixerConv, elementsOf(mixer.convolved(kind), mixer.conv + (mixer.hasConvBias ? 1 : 0))},
            {in + (isStateSpace ? "norm" : "out_norm"), MixerNorm,
             static_cast<double>(isStateSpace ? mixer.values() : mixer.headDim)},
            {in + "out_proj", MixerOut, elementsOf(mixer.values(), model.hidden)}};
}

/// Where the norm in front of a layer's mixer is found.
std::string_view firstNormOf(const Architecture& model, const ModuleNames& names, Mixer mixer)
{
    if (mixer == Mixer::Mamba2) { // ssm/mamba_layer.py
        return names.isFused ? "mixer.in_proj.layer_norm_weight" : "norm";
    }
    if (!names.isFused || model.isMla) {
        return "input_layernorm";
    }
    return mixer == Mixer::DeltaNet ? "self_attention.in_proj.layer_norm_weight"
                                    : "self_attention.linear_qkv.layer_norm_weight";
}

} // namespace

/// Empty of Megatron Core's where the expressions mean a checkpoint's.
ModuleNames megatronNames(const TrainingPlan& plan)
{
    if (!namesMegatronCore(plan)) {
        return {};
    }
    ModuleNames names = visionTowerOf(plan).isPresent() ? megatronCoreWithImages : megatronCore;
    const std::vector<LayerKind> kinds = architectureOf(plan).kinds;
    if (std::any_of(kinds.begin(), kinds.end(), [](LayerKind kind) { return kind.mixer == Mixer::Mamba2; })) {
        names.norm = "decoder.final_norm"; // ssm/mamba_block.py, from memory
    }
    const bool isTransformerEngine = profileOf(plan) != "megatron-local";
    names.isMegatronCore = true;
    names.isFused = isTransformerEngine;
    names.isGrouped = isTransformerEngine && plan.moe.groupedGemm.valueOr(true);
    return names;
}

/// A layer of a hybrid may have one half alone, with a norm of its own.
std::vector<NamedParameter> megatronBlockParameters(const Architecture& model, const ModuleNames& names, LayerKind kind)
{
    using enum TrainedParts::Part;
    const double hidden = static_cast<double>(model.hidden), gates = static_cast<double>(model.gate);
    std::vector<NamedParameter> result;
    if (kind.mixer != Mixer::None) {
        result.push_back({std::string(firstNormOf(model, names, kind.mixer)), FirstNorm, hidden});
        const std::vector<NamedParameter> mixed = kind.mixer == Mixer::Attention
            ? attentionParameters(model, names.isFused)
            : mixerParameters(model, kind.mixer);
        result.insert(result.end(), mixed.begin(), mixed.end());
    }
    if (kind.feedForward == FeedForward::None) {
        return result;
    }
    const bool hasExperts = kind.feedForward == FeedForward::Experts;
    result.push_back({names.isFused && !hasExperts ? "mlp.linear_fc1.layer_norm_weight" : "pre_mlp_layernorm",
                      kind.mixer == Mixer::None ? FirstNorm : SecondNorm, hidden});
    if (!hasExperts) {
        result.push_back({"mlp.linear_fc1", Gate | Up, gates * elementsOf(model.hidden, model.ffn)});
        result.push_back({"mlp.linear_fc2", Down, elementsOf(model.hidden, model.ffn)});
        return result;
    }
    const double expert = elementsOf(model.hidden, model.expertFfn) * static_cast<double>(model.experts);
    result.push_back({"mlp.router", Router, elementsOf(model.hidden, model.experts)});
    result.push_back({names.isGrouped ? ".linear_fc1.weight" : ".linear_fc1", ExpertGate | ExpertUp, gates * expert});
    result.push_back({names.isGrouped ? ".linear_fc2.weight" : ".linear_fc2", ExpertDown, expert});
    if (model.sharedFfn > 0) {
        const double shared = elementsOf(model.hidden, model.sharedFfn);
        result.push_back({"mlp.shared_experts.linear_fc1", SharedGate | SharedUp, gates * shared});
        result.push_back({"mlp.shared_experts.linear_fc2", SharedDown, shared});
        if (model.sharedGate) {
            result.push_back({"mlp.shared_experts.gate_weight", SharedOpening, hidden});
        }
    }
    return result;
}

} // namespace headroom
