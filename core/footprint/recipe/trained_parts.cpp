// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/trained_parts.h"

#include "footprint/recipe/parameters.h"
#include "plan/name_pattern.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

namespace {

constexpr std::int64_t mostLayers = 2000; // each has some dozen names that expressions look at

/// A parameter of a block, biases left to the weight beside them.
struct Parameter
{
    std::string_view name; ///< behind the block's own
    TrainedParts::Part part{};
    double elements = 0;
};

/// Whether an expression is given.
bool isStated(const Name& expression)
{
    return expression.isKnown() && !expression.value.empty();
}

/// Names of the modules that model code of transformers has for the same things (modeling_llama.py, modeling_gpt2.py,
/// modeling_gpt_neox.py, modeling_mixtral.py, modeling_deepseek_v3.py).
struct Naming
{
    std::string_view blocks = "model.layers.", table = "model.embed_tokens", norm = "model.norm", head = "lm_head";
    std::string_view query = "self_attn.q_proj", key = "self_attn.k_proj", value = "self_attn.v_proj";
    std::string_view output = "self_attn.o_proj";
    std::string_view gate = "mlp.gate_proj", up = "mlp.up_proj", down = "mlp.down_proj";
    std::string_view router = "mlp.gate", experts = "mlp.experts.";
    std::string_view expertGate = ".gate_proj", expertUp = ".up_proj", expertDown = ".down_proj";
    std::string_view firstNorm = "input_layernorm", secondNorm = "post_attention_layernorm";
    std::string_view tower = "visual.blocks.", projector = "visual.merger.mlp.0";
};

constexpr Naming gpt2{.blocks = "transformer.h.",
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
constexpr Naming gptNeoX{.blocks = "gpt_neox.layers.",
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

/// Versions of a model differ in what stands in front; the names that the expressions themselves use decide.
Naming namingFor(std::string_view expressions)
{
    const auto mentions = [expressions](std::string_view word) { return expressions.find(word) != word.npos; };
    if (mentions("transformer.h") || mentions(R"(transformer\.h)")) {
        return gpt2;
    }
    if (mentions("gpt_neox")) {
        return gptNeoX;
    }
    Naming naming;
    if (mentions("language_model.model") || mentions(R"(language_model\.model)")) {
        naming.blocks = "language_model.model.layers.";
        naming.table = "language_model.model.embed_tokens";
        naming.norm = "language_model.model.norm";
        naming.head = "language_model.lm_head";
    } else if (mentions("language_model")) {
        naming.blocks = "model.language_model.layers.";
        naming.table = "model.language_model.embed_tokens";
        naming.norm = "model.language_model.norm";
    }
    if (mentions("block_sparse_moe")) {
        naming.router = "block_sparse_moe.gate";
        naming.experts = "block_sparse_moe.experts.";
        naming.expertGate = ".w1";
        naming.expertUp = ".w3";
        naming.expertDown = ".w2";
    }
    if (mentions("model.visual") || mentions(R"(model\.visual)")) {
        naming.tower = "model.visual.blocks.";
        naming.projector = "model.visual.merger.mlp.0";
    } else if (mentions("vision_tower") || mentions("multi_modal_projector")) {
        naming.tower = "vision_tower.vision_model.encoder.layers.";
        naming.projector = "multi_modal_projector.linear_1";
    }
    return naming;
}

/// Whole numbers of elements, in double: sums of any plan's stay finite.
double product(std::int64_t a, std::int64_t b)
{
    return static_cast<double>(a) * static_cast<double>(b);
}

std::vector<Parameter> attentionParameters(const Architecture& model, const Naming& naming)
{
    using enum TrainedParts::Part;
    if (model.isMla) {
        const std::int64_t queries = model.heads * (model.nopeDim + model.ropeDim);
        std::vector<Parameter> result;
        if (model.qLoraRank > 0) {
            result = {{"self_attn.q_a_proj", QueryLatent, product(model.hidden, model.qLoraRank)},
                      {"self_attn.q_a_layernorm", QueryNorm, static_cast<double>(model.qLoraRank)},
                      {"self_attn.q_b_proj", Query, product(model.qLoraRank, queries)}};
        } else {
            result = {{naming.query, Query, product(model.hidden, queries)}};
        }
        result.push_back(
            {"self_attn.kv_a_proj_with_mqa", Key, product(model.hidden, model.kvLoraRank + model.ropeDim)});
        result.push_back({"self_attn.kv_a_layernorm", KeyNorm, static_cast<double>(model.kvLoraRank)});
        result.push_back(
            {"self_attn.kv_b_proj", Value, product(model.kvLoraRank, model.heads * (model.nopeDim + model.valueDim))});
        result.push_back({naming.output, Output, product(model.heads * model.valueDim, model.hidden)});
        return result;
    }
    const std::int64_t queries = model.heads * model.headDim;
    const std::int64_t keys = model.groups * model.headDim;
    std::vector<Parameter> result{{naming.query, Query, product(model.hidden, queries)},
                                  {naming.key, Key, product(model.hidden, keys)},
                                  {naming.value, Value, product(model.hidden, keys)},
                                  {naming.output, Output, product(queries, model.hidden)}};
    if (model.qkNorm) {
        result.push_back({"self_attn.q_norm", QueryNorm, static_cast<double>(model.headDim)});
        result.push_back({"self_attn.k_norm", KeyNorm, static_cast<double>(model.headDim)});
    }
    return result;
}

/// `experts`: the names of one of them, with its number.
void addExperts(const Architecture& model, const Naming& naming, std::vector<Parameter>& result)
{
    using enum TrainedParts::Part;
    result.push_back({naming.router, Router, product(model.hidden, model.experts)});
    const double expert = product(model.hidden, model.expertFfn) * static_cast<double>(model.experts);
    if (model.gate > 1) {
        result.push_back({naming.expertGate, ExpertGate, expert});
    }
    result.push_back({naming.expertUp, ExpertUp, expert});
    result.push_back({naming.expertDown, ExpertDown, expert});
    if (model.sharedFfn > 0) {
        const double shared = product(model.hidden, model.sharedFfn);
        if (model.gate > 1) {
            result.push_back({"mlp.shared_experts.gate_proj", SharedGate, shared});
        }
        result.push_back({"mlp.shared_experts.up_proj", SharedUp, shared});
        result.push_back({"mlp.shared_experts.down_proj", SharedDown, shared});
    }
}

/// In the order in which the model has them.
std::vector<Parameter> blockParameters(const Architecture& model, const Naming& naming, bool hasExperts)
{
    using enum TrainedParts::Part;
    std::vector<Parameter> result = attentionParameters(model, naming);
    if (hasExperts) {
        addExperts(model, naming, result);
    } else {
        const double matrix = product(model.hidden, model.ffn);
        if (model.gate > 1) {
            result.push_back({naming.gate, Gate, matrix});
        }
        result.push_back({naming.up, Up, matrix});
        result.push_back({naming.down, Down, matrix});
    }
    result.push_back({naming.firstNorm, FirstNorm, static_cast<double>(model.hidden)});
    if (model.blockNorms > 1) {
        result.push_back({naming.secondNorm, SecondNorm, static_cast<double>(model.hidden)});
    }
    return result;
}

class PartFinder
{
public:
    explicit PartFinder(const TrainingPlan& plan)
        : m_frozen(plan.frozen)
        , m_model(architectureOf(plan))
        , m_tower(visionTowerOf(plan))
        , m_naming(namingFor(m_frozen.patterns.value + " " + m_frozen.trained.value))
        , m_isTrainedAlone(!isStated(m_frozen.patterns) && !m_frozen.trainedLayers.isKnown()
                           && !m_frozen.ratio.isKnown())
    {
        if (m_frozen.ratio.isKnown()) {
            const ModelWeights weights = weightsPerGpu(m_model, m_tower, projectorOf(plan), Split{});
            m_vision = weights.vision().total().real();
            m_projector = weights.projector.total().real();
            m_limit = std::floor(std::clamp(m_frozen.ratio.value, 0.0, 1.0)
                                 * static_cast<double>(modelParameters(m_model, m_tower, projectorOf(plan))));
        }
    }

    Result<TrainedParts> run()
    {
        if (m_model.layers > mostLayers) {
            return failure(Text{HEADROOM_TR("core", "%1 layers are too many to freeze parts of them"),
                                {std::to_string(m_model.layers)}});
        }
        for (const auto& [field, pattern] :
             {std::pair{&m_frozen.patterns, &m_pattern}, std::pair{&m_frozen.trained, &m_trainedPattern}}) {
            if (isStated(*field)) {
                auto compiled = NamePattern::compile(field->value);
                if (!compiled) {
                    return tl::unexpected(compiled.error());
                }
                *pattern = std::move(*compiled);
            }
        }
        readTower();
        set(TrainedParts::Table,
            isTrained(std::string(m_naming.table) + ".weight", product(m_model.vocab, m_model.hidden)));
        m_parts.layers.reserve(static_cast<std::size_t>(m_model.layers));
        for (std::int64_t layer = 0; layer < m_model.layers; ++layer) {
            readLayer(layer);
        }
        set(TrainedParts::FinalNorm,
            isTrained(std::string(m_naming.norm) + ".weight", static_cast<double>(m_model.hidden)));
        set(TrainedParts::Head,
            m_model.tied ? (m_parts.outside & TrainedParts::Table) != 0
                         : isTrained(std::string(m_naming.head) + ".weight", product(m_model.vocab, m_model.hidden)));
        if (m_problem) {
            return failure(*m_problem);
        }
        return std::move(m_parts);
    }

private:
    void set(TrainedParts::Part part, bool isTrained)
    {
        m_parts.outside = isTrained ? m_parts.outside | part : m_parts.outside & ~static_cast<std::uint32_t>(part);
    }

    /// In front of the language model, where Qwen's and Llava's models have it too.
    void readTower()
    {
        if (!m_tower.isPresent()) {
            return;
        }
        const auto block = [this](std::int64_t index, double elements) {
            return isTrained(std::string(m_naming.tower) + std::to_string(index) + ".attn.qkv.weight", elements);
        };
        const bool isFirst = block(0, m_vision), isLast = block(m_tower.layers - 1, 0);
        if (isFirst != isLast) {
            m_problem = Text{HEADROOM_TR("core",
                                         "a part of the image encoder would be frozen: no tape has that, freeze "
                                         "all of it or nothing")};
        }
        set(TrainedParts::Vision, isFirst && isLast);
        set(TrainedParts::Projector, isTrained(std::string(m_naming.projector) + ".weight", m_projector));
    }

    void readLayer(std::int64_t layer)
    {
        const bool hasExperts = m_model.moeLayers(layer, 1) > 0;
        const std::string block = std::string(m_naming.blocks) + std::to_string(layer) + ".";
        std::uint32_t trained = 0;
        for (const Parameter& parameter : blockParameters(m_model, m_naming, hasExperts)) {
            const bool isExpert = parameter.name.starts_with('.');
            const auto nameOf = [&](std::int64_t expert) {
                return (isExpert ? std::string(m_naming.experts) + std::to_string(expert) : std::string{})
                           .append(parameter.name)
                    + ".weight";
            };
            const auto finds = [&](const std::string& name, double elements) {
                return isTrained(block + name, elements, isInLayers(layer, name));
            };
            const bool isTrained = finds(nameOf(0), parameter.elements);
            if (isExpert && finds(nameOf(m_model.experts - 1), 0) != isTrained) {
                m_problem = Text{HEADROOM_TR("core",
                                             "some experts of a layer would be frozen and others not: no tape has "
                                             "that, freeze all of them or none")};
            }
            trained |= isTrained ? parameter.part : 0U;
        }
        m_parts.layers.push_back(trained);
    }

    /// Whether a module of a layer is among those that frozen.trained_layers leaves to train.
    [[nodiscard]] bool isInLayers(std::int64_t layer, std::string_view name) const
    {
        const std::int64_t count = m_frozen.trainedLayers.value;
        const bool isIn = count >= 0 ? layer >= m_model.layers - count : layer < -count;
        const std::vector<std::string>& modules = m_frozen.trainedModules.value;
        return isIn
            && (modules.empty() || std::any_of(modules.begin(), modules.end(), [name](const std::string& module) {
                    return module == "all" || name.starts_with(module);
                }));
    }

    bool isTrained(const std::string& name, double elements, bool isInLayers = false)
    {
        m_seen += elements;
        if (isStated(m_frozen.trained) && finds(m_trainedPattern, name)) {
            return true;
        }
        const bool isAmongFirst = m_frozen.ratio.isKnown() && m_seen <= m_limit;
        const bool isOtherLayer = m_frozen.trainedLayers.isKnown() && !isInLayers;
        const bool isFound = isStated(m_frozen.patterns) && finds(m_pattern, name);
        return !isAmongFirst && !isOtherLayer && !isFound && !(isStated(m_frozen.trained) && m_isTrainedAlone);
    }

    bool finds(const NamePattern& pattern, const std::string& name)
    {
        if (m_problem) {
            return false;
        }
        const NamePattern::Found found = pattern.find(name);
        if (found == NamePattern::Found::GivenUp) {
            m_problem = Text{HEADROOM_TR("core", "a regular expression takes too long to look for in “%1”"), {name}};
        }
        return found == NamePattern::Found::Yes;
    }

    const FrozenPlan& m_frozen;
    const Architecture m_model;
    const VisionTower m_tower;
    const Naming m_naming;
    const bool m_isTrainedAlone;
    NamePattern m_pattern, m_trainedPattern;
    double m_vision = 0, m_projector = 0, m_limit = 0, m_seen = 0;
    TrainedParts m_parts;
    std::optional<Text> m_problem;
};

} // namespace

bool TrainedParts::trainsLanguage() const
{
    return (outside & (Table | FinalNorm | Head)) != 0
        || std::any_of(layers.begin(), layers.end(), [](std::uint32_t layer) { return layer != 0; });
}

bool freezesParts(const TrainingPlan& plan)
{
    const FrozenPlan& frozen = plan.frozen;
    return isStated(frozen.patterns) || isStated(frozen.trained) || frozen.trainedLayers.isKnown()
        || frozen.ratio.isKnown();
}

Result<TrainedParts> trainedPartsOf(const TrainingPlan& plan)
{
    return freezesParts(plan) ? PartFinder(plan).run() : TrainedParts{};
}

double trainedShare(const TrainedParts& parts, const Architecture& model, std::int64_t first, std::int64_t count,
                    bool holdsEmbedding, bool holdsHead)
{
    if (parts.isAll()) {
        return 1;
    }
    double all = 0, trained = 0;
    const auto add = [&](double elements, bool isTrained) {
        all += elements;
        trained += isTrained ? elements : 0;
    };
    const double table = product(model.vocab, model.hidden);
    if (holdsEmbedding) {
        add(table, (parts.outside & TrainedParts::Table) != 0);
    }
    if (holdsHead && (!model.tied || !holdsEmbedding)) {
        add(table, (parts.outside & TrainedParts::Head) != 0);
    }
    const Naming naming;
    const std::vector<Parameter> dense = blockParameters(model, naming, false);
    const std::vector<Parameter> routed = model.isMoe() ? blockParameters(model, naming, true) : dense;
    for (std::int64_t layer = first; layer < first + count; ++layer) {
        for (const Parameter& parameter : model.moeLayers(layer, 1) > 0 ? routed : dense) {
            add(parameter.elements, (parts.of(layer) & parameter.part) != 0);
        }
    }
    return all > 0 ? trained / all : 1;
}

} // namespace headroom
