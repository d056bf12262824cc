// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/megatron_defaults.h"

#include "config/format_keys.h"
#include "config/hybrid_pattern.h"
#include "units/number.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

namespace {

class MegatronDefaults
{
public:
    MegatronDefaults(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                     std::vector<Problem>& problems)
        : m_document(document)
        , m_format(format)
        , m_plan(plan)
        , m_problems(problems)
        , m_file(std::make_shared<const std::string>(document.name()))
    {
    }

    void complete()
    {
        completeHybrid(
            m_plan, [this](std::string_view name) { return flag(name); }, m_document.name(), m_problems);
        completeMlp();
        completeAttention();
        completeVision();
        completeVocabulary();
        completeExperts();
        completeBatch();
        completeParallel();
        completeRecompute();
    }

private:
    [[nodiscard]] const Setting* flag(std::string_view name) const
    {
        const auto places = m_format.scopes.find("args");
        if (places == m_format.scopes.end()) {
            return nullptr;
        }
        for (const std::string& place : places->second) {
            const std::string own = m_format.hasFlagsAsKeys ? keyOfFlag(std::string(name)) : std::string(name);
            const std::string key = place.empty() ? own : place + "." + own;
            if (const Setting* setting = statedAt(m_document, key)) {
                return setting;
            }
        }
        return nullptr;
    }
    [[nodiscard]] Origin originOf(const Setting& setting) const
    {
        return {OriginKind::ConfigFile, static_cast<std::int32_t>(setting.line), m_file};
    }
    void report(Severity severity, std::int64_t line, Text text)
    {
        m_problems.push_back({severity, m_document.name(), line, std::move(text)});
    }

    void completeMlp();
    void completeAttention();
    void completeVision();
    void completeVocabulary();
    void completeExperts();
    void completeBatch();
    void completeParallel();
    void completeRecompute();

    const ConfigDocument& m_document;
    const ConfigFormat& m_format;
    TrainingPlan& m_plan;
    std::vector<Problem>& m_problems;
    std::shared_ptr<const std::string> m_file;
};

const Origin derived{OriginKind::Derived, 0, nullptr};

/// 4h; with SwiGLU two thirds of it in steps of 64.
void MegatronDefaults::completeMlp()
{
    ModelPlan& model = m_plan.model;
    if (model.ffn.isKnown() || model.ffn.isUnclear() || !model.hidden.isKnown()) {
        return;
    }
    const std::int64_t hidden = model.hidden.value;
    const bool isSwiglu = model.gatedMlp.value && model.activation.value == "swiglu";
    model.ffn.set(isSwiglu ? hidden * 8 / 3 / 64 * 64 : 4 * hidden, derived);
}

/// Without --group-query-attention every query head has keys and values of its own (arguments.py, num_query_groups).
void MegatronDefaults::completeAttention()
{
    ModelPlan& model = m_plan.model;
    const bool isOpen = !model.kvHeads.isKnown() && !model.kvHeads.isUnclear() && model.heads.isKnown();
    if (isOpen && m_format.id == "megatron-args" && flag("--group-query-attention") == nullptr) {
        model.kvHeads.set(model.heads.value, derived);
    }
}

/// pretrain_vlm.py: image encoder and projector are configured by a copy of the language model's configuration, and the
/// image's tokens, class token included, join those of the text (model_provider; get_num_image_embeddings of
/// megatron/core/models/vision/clip_vit_model.py).
void MegatronDefaults::completeVision()
{
    const Setting* script = statedAt(m_document, "script");
    const bool isTheirs = script != nullptr && script->text.ends_with("pretrain_vlm.py");
    VisionPlan& vision = m_plan.vision;
    ModelPlan& model = m_plan.model;
    if (!isTheirs || m_format.id != "megatron-args" || !vision.layers.isKnown() || vision.patch.value <= 0) {
        return;
    }
    const auto copy = [](Count& to, const Count& from) {
        if (from.isKnown()) {
            to.set(from.value, derived);
        }
    };
    copy(vision.hidden, model.hidden);
    copy(vision.ffn, model.ffn);
    copy(vision.heads, model.heads);
    copy(m_plan.projector.in, model.hidden);
    copy(m_plan.projector.hidden, model.ffn);
    copy(m_plan.projector.out, model.hidden);
    vision.qkvBias.set(model.attnBias.value, derived);
    constexpr std::int64_t mostPatches = 1 << 20; // a side, whatever the file says
    const std::int64_t side = std::clamp<std::int64_t>(vision.imageSize.value / vision.patch.value, 0, mostPatches);
    const std::int64_t tokens = side * side + (vision.dropCls.value ? 0 : 1);
    vision.tokensPerImage.set(tokens, derived);
    Count& sequence = m_plan.batch.seq;
    if (sequence.isKnown() && sequence.value <= std::numeric_limits<std::int32_t>::max()) {
        sequence.value += tokens;
        if (model.maxPos.isKnown()) {
            model.maxPos.value = std::max(model.maxPos.value, sequence.value);
        }
    }
}

/// Vocabularies that belong to a tokenizer's type. Those of other types stand in files that are not here.
std::optional<std::int64_t> vocabularyOf(std::string_view tokenizer)
{
    constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> known{{{"GPT2BPETokenizer", 50257},
                                                                              {"Llama2Tokenizer", 32000},
                                                                              {"BertWordPieceCase", 28996},
                                                                              {"BertWordPieceLowerCase", 30522}}};
    for (const auto& [name, size] : known) {
        if (name == tokenizer) {
            return size;
        }
    }
    return std::nullopt;
}

/// The tokenizer adds its own tokens: end of document to a null tokenizer, [BOS], [EOS] and extra ones to word pieces.
void MegatronDefaults::completeVocabulary()
{
    Count& vocab = m_plan.model.vocab;
    if (!m_format.scopes.contains("args") || m_format.id != "megatron-args") {
        return; // the tokenizer stands elsewhere
    }
    const Setting* tokenizer = flag("--tokenizer-type");
    const std::string type = tokenizer != nullptr ? tokenizer->text : std::string{};
    if (!vocab.isKnown()) {
        const auto size = vocabularyOf(type);
        if (m_plan.model.paddedVocab.isKnown() || vocab.isUnclear()) {
            return;
        }
        if (!size) {
            constexpr std::int64_t gpt2 = 50257;
            if (tokenizer == nullptr) {
                vocab.set(gpt2, {OriginKind::Default, 0, nullptr});
                report(Severity::Note, 0,
                       Text{HEADROOM_TR("core",
                                        "neither a vocabulary nor a tokenizer is given: GPT-2's vocabulary of %1 is "
                                        "assumed"),
                            {formatCount(gpt2)}});
            } else {
                report(Severity::Warning, tokenizer->line,
                       Text{HEADROOM_TR("core",
                                        "the vocabulary stands in the files of the tokenizer %1, so model.vocab is not "
                                        "known from here"),
                            {type}});
            }
            return;
        }
        vocab.set(*size, derived);
    }
    const std::string& family = m_plan.model.family.value;
    std::int64_t added = type == "NullTokenizer" ? 1 : 0;
    if (family == "bert" || family == "t5") {
        const Setting* extra = flag("--vocab-extra-ids");
        added += 2 + (extra != nullptr ? parseInteger(extra->text).value_or(0) : 0);
    }
    vocab.value += added;
}

/// The layers without experts that stand in front in "([0]*3+[1]*58)"; nothing for another pattern.
std::optional<std::int64_t> denseLayersOf(std::string text)
{
    std::erase_if(text, [](char c) { return c == ' ' || c == '(' || c == ')'; });
    constexpr std::string_view dense = "[0]*", sparse = "[1]*";
    std::int64_t count = 0;
    if (text.starts_with(dense)) {
        const std::size_t plus = std::min(text.find('+'), text.size());
        const auto layers = parseInteger(std::string_view(text).substr(dense.size(), plus - dense.size()));
        if (!layers || plus == text.size()) {
            return std::nullopt;
        }
        count = *layers;
        text.erase(0, plus + 1);
    }
    const bool isRest = text.starts_with(sparse) && parseInteger(std::string_view(text).substr(sparse.size()));
    return isRest ? std::optional(count) : std::nullopt;
}

/// --moe-layer-freq: a period, or a list such as ([0]*3+[1]*58).
void MegatronDefaults::completeExperts()
{
    const Setting* frequency = flag("--moe-layer-freq");
    if (!m_plan.moe.experts.isKnown()) {
        return;
    }
    if (frequency == nullptr) {
        m_plan.moe.layerFreq.set(1, {OriginKind::Default, 0, nullptr});
        return;
    }
    if (const auto period = parseInteger(frequency->text)) {
        m_plan.moe.layerFreq.set(*period, originOf(*frequency));
    } else if (const auto dense = denseLayersOf(frequency->text)) {
        m_plan.moe.layerFreq.set(1, originOf(*frequency));
        m_plan.moe.firstDenseLayers.set(*dense, originOf(*frequency));
    } else {
        report(Severity::Warning, frequency->line,
               Text{HEADROOM_TR("core", "“%1” is not understood: every layer is taken to have experts"),
                    {frequency->text}});
    }
}

/// --step-batch-size-schedule "0:384 200B:768": a run starts with the first.
void MegatronDefaults::completeBatch()
{
    const Setting* schedule = flag("--step-batch-size-schedule");
    if (schedule == nullptr) {
        return;
    }
    const std::size_t colon = schedule->text.find(':');
    if (colon == std::string::npos) {
        return;
    }
    const std::size_t end = schedule->text.find_first_of(" ,", colon);
    if (const auto size = parseInteger(schedule->text.substr(colon + 1, end - colon - 1)); size && *size > 0) {
        m_plan.batch.global.set(*size, originOf(*schedule));
    }
}

/// Sequence parallelism has no ranks to split over at tensor-parallel size 1; the data files' `no_effect` says so.
void MegatronDefaults::completeParallel()
{
    ParallelPlan& parallel = m_plan.parallel;
    if (parallel.sp.isStated() && parallel.sp.value && parallel.tp.value == 1) {
        parallel.sp.set(false, derived);
    }
}

/// A count of layers belongs to full recompute; selective recompute takes modules of every layer.
void MegatronDefaults::completeRecompute()
{
    RecomputePlan& recompute = m_plan.recompute;
    if (recompute.granularity.value == Granularity::Selective && recompute.numLayers.isKnown()) {
        recompute.numLayers = {};
    }
}

} // namespace

void completeMegatronPlan(const ConfigDocument& document, const ConfigFormat& format, TrainingPlan& plan,
                          std::vector<Problem>& problems)
{
    MegatronDefaults(document, format, plan, problems).complete();
}

} // namespace headroom
