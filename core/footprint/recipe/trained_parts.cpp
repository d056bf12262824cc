// SPDX-License-Identifier: GPL-3.0-or-later
#include "footprint/recipe/trained_parts.h"

#include "footprint/recipe/block_parameters.h"
#include "footprint/recipe/parameters.h"
#include "footprint/tape/shape.h"
#include "plan/name_pattern.h"
#include "plan/pipeline_layout.h"
#include "plan/pipeline_split.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

namespace {

constexpr std::int64_t mostLayers = 2000; // each has some dozen names that expressions look at

/// Whether an expression is given.
bool isStated(const Name& expression)
{
    return expression.isKnown() && !expression.value.empty();
}

/// Layers that come first in a model chunk, which numbers its own from zero (transformer_block.py, _build_layers).
std::vector<std::int64_t> chunkStarts(const TrainingPlan& plan)
{
    std::vector<std::int64_t> starts{0};
    const std::vector<std::int64_t> stages = layersPerStage(plan);
    const std::int64_t chunks = chunksPerStage(plan);
    std::optional<PipelineLayout> layout;
    if (plan.parallel.layout.isKnown() && !stages.empty()) {
        if (auto parsed = PipelineLayout::parse(plan.parallel.layout.value, static_cast<std::int64_t>(stages.size()))) {
            layout = std::move(*parsed);
        }
    }
    std::int64_t next = 0;
    for (std::int64_t chunk = 0; chunk < std::min<std::int64_t>(chunks, mostLayers); ++chunk) {
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            starts.push_back(next);
            next += layout ? layout->cell(static_cast<std::int64_t>(stage), chunk).layers : stages[stage] / chunks;
        }
    }
    return starts;
}

std::int64_t predictionsOf(const Architecture& model)
{
    return std::min(model.mtpLayers, model.repeatsPredictor ? std::int64_t{1} : mostLayers);
}

class PartFinder
{
public:
    explicit PartFinder(const TrainingPlan& plan)
        : m_frozen(plan.frozen)
        , m_model(architectureOf(plan))
        , m_tower(visionTowerOf(plan))
        , m_names(namesFor(plan))
        , m_starts(m_names.isMegatronCore ? chunkStarts(plan) : std::vector<std::int64_t>{0})
        , m_predictions(profileOf(plan).starts_with("megatron") ? predictionsOf(m_model) : 0)
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
        if (!m_names.isMegatronCore) {
            readTower();
        }
        set(TrainedParts::Table,
            isTrained(std::string(m_names.table) + ".weight", elementsOf(m_model.vocab, m_model.hidden)));
        m_parts.layers.reserve(static_cast<std::size_t>(m_model.layers));
        for (std::int64_t layer = 0; layer < m_model.layers; ++layer) {
            readLayer(layer);
        }
        set(TrainedParts::FinalNorm,
            isTrained(std::string(m_names.norm) + ".weight", static_cast<double>(m_model.hidden)));
        readPredictions();
        set(TrainedParts::Head,
            m_model.tied ? (m_parts.outside & TrainedParts::Table) != 0
                         : isTrained(std::string(m_names.head) + ".weight", elementsOf(m_model.vocab, m_model.hidden)));
        if (m_names.isMegatronCore) {
            readTower(); // behind the language model
        }
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
            return isTrained(std::string(m_names.tower) + std::to_string(index) + ".attn.qkv.weight", elements);
        };
        const bool isFirst = block(0, m_vision), isLast = block(m_tower.layers - 1, 0);
        if (isFirst != isLast) {
            m_problem = Text{HEADROOM_TR("core",
                                         "a part of the image encoder would be frozen: no tape has that, freeze "
                                         "all of it or nothing")};
        }
        set(TrainedParts::Vision, isFirst && isLast);
        set(TrainedParts::Projector, isTrained(std::string(m_names.projector) + ".weight", m_projector));
    }

    void readLayer(std::int64_t layer)
    {
        const std::int64_t start = *std::prev(std::upper_bound(m_starts.begin(), m_starts.end(), layer));
        m_parts.layers.push_back(
            trainedOf(layer, std::string(m_names.blocks) + std::to_string(layer - start) + ".", m_model.kindOf(layer)));
    }

    /// Megatron's transformer/multi_token_prediction.py, from memory; DeepSeek's checkpoints have the same as layers
    /// behind the others.
    void readPredictions()
    {
        const bool isOwn = m_names.isMegatronCore;
        for (std::int64_t depth = 0; depth < m_predictions && !m_problem; ++depth) {
            const std::int64_t layer = m_model.layers + depth;
            const std::string block = isOwn ? "mtp.layers." + std::to_string(depth) + "."
                                            : std::string(m_names.blocks) + std::to_string(layer) + ".";
            int joining = 0;
            for (const std::string name :
                 {"enorm", "hnorm", "eh_proj", isOwn ? "final_layernorm" : "shared_head.norm"}) {
                const double rows = name == "eh_proj" ? 2.0 * static_cast<double>(m_model.hidden) : 1.0;
                joining += isTrained(block + name + ".weight", rows * static_cast<double>(m_model.hidden),
                                     isInLayers(layer, name))
                    ? 1
                    : 0;
            }
            std::uint32_t trained
                = trainedOf(layer, block + (isOwn ? "transformer_layer." : ""), m_model.kindOf(m_model.layers - 1));
            trained |= joining > 0 ? TrainedParts::Joining : 0U;
            if (joining % 4 != 0 || (depth > 0 && trained != m_parts.prediction)) {
                m_problem = Text{HEADROOM_TR("core",
                                             "predictions of further tokens are described frozen alike, each with its "
                                             "projection and its norms: see frozen.patterns and frozen.trained")};
            }
            m_parts.prediction = trained;
        }
    }

    /// Of a block's parts.
    std::uint32_t trainedOf(std::int64_t layer, const std::string& block, LayerKind kind)
    {
        std::uint32_t trained = 0;
        for (const NamedParameter& parameter : blockParameters(m_model, m_names, kind)) {
            const bool isExpert = parameter.name.starts_with('.');
            const auto nameOf = [&](std::int64_t expert) { return nameOfParameter(parameter.name, expert); };
            const auto finds = [&](const std::string& name, double elements) {
                return isTrained(block + name, elements, isInLayers(layer, name));
            };
            const bool isTrained = finds(nameOf(0), parameter.elements);
            if (isExpert && finds(nameOf(m_model.experts - 1), 0) != isTrained) {
                m_problem = Text{HEADROOM_TR("core",
                                             "some experts of a layer would be frozen and others not: no tape has "
                                             "that, freeze all of them or none")};
            }
            trained |= isTrained ? parameter.parts : 0U;
        }
        return trained;
    }

    /// Behind the layer's; `expert`: the number of one, where it is one's.
    [[nodiscard]] std::string nameOfParameter(std::string_view name, std::int64_t expert) const
    {
        const std::string own(name);
        if (!name.starts_with('.')) {
            return name.ends_with("weight") ? own : own + ".weight";
        }
        const std::string number = std::to_string(expert);
        if (name.ends_with("weight")) { // numbered behind (Transformer Engine, module/grouped_linear.py)
            return std::string(m_names.experts) + own.substr(1) + number;
        }
        return std::string(m_names.experts) + (m_names.isMegatronCore ? "local_experts." : "") + number + own
            + ".weight";
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
    const ModuleNames m_names;
    const std::vector<std::int64_t> m_starts;
    const std::int64_t m_predictions; ///< that have parameters of their own
    const bool m_isTrainedAlone;
    NamePattern m_pattern, m_trainedPattern;
    double m_vision = 0, m_projector = 0, m_limit = 0, m_seen = 0;
    TrainedParts m_parts;
    std::optional<Text> m_problem;
};

} // namespace

bool TrainedParts::trainsLanguage() const
{
    return (outside & (Table | FinalNorm | Head)) != 0 || prediction != 0
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
    const double table = elementsOf(model.vocab, model.hidden);
    if (holdsEmbedding) {
        add(table, (parts.outside & TrainedParts::Table) != 0);
    }
    if (holdsHead && (!model.tied || !holdsEmbedding)) {
        add(table, (parts.outside & TrainedParts::Head) != 0);
    }
    std::vector<std::pair<LayerKind, std::vector<NamedParameter>>> kinds;
    for (std::int64_t layer = first; layer < first + count; ++layer) {
        const LayerKind kind = model.kindOf(layer);
        auto known = std::find_if(kinds.begin(), kinds.end(), [kind](const auto& one) { return one.first == kind; });
        if (known == kinds.end()) {
            known = kinds.insert(known, {kind, blockParameters(model, ModuleNames{}, kind)});
        }
        for (const NamedParameter& parameter : known->second) {
            add(parameter.elements, (parts.of(layer) & parameter.parts) != 0);
        }
    }
    return all > 0 ? trained / all : 1;
}

} // namespace headroom
