// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/export_plan.h"

#include "config/comparable_plan.h"
#include "config/format_keys.h"
#include "config/format_values.h"
#include "config/new_file.h"
#include "config/read_plan.h"
#include "config/scalar_text.h"
#include "plan/precision.h"
#include "units/number.h"

#include <algorithm>
#include <array>
#include <optional>

namespace headroom {

namespace {

using Edits = std::vector<ConfigEdit>;

/// An implementation is known to a framework by its own words or not at all; other values stand for themselves.
bool hasWordFor(const ConfigFormat::Key& key, const std::string& value)
{
    return key.field != "implementation.profile" || key.words.empty()
        || std::any_of(key.words.begin(), key.words.end(), [&](const auto& word) { return word.second == value; });
}

/// What a file would add to the model though the plan has nothing of the kind.
bool isOfATower(const std::string& field)
{
    return field.starts_with("vision.") || field.starts_with("projector.");
}

class PlanExporter
{
public:
    PlanExporter(const TrainingPlan& plan, const ConfigFormat& format, const Catalog& catalog, std::string name)
        : m_format(format)
        , m_way(*format.exported)
        , m_catalog(catalog)
        , m_name(std::move(name))
        , m_plan(comparable(plan))
        , m_preset(fieldText(plan, "model.name"))
    {
        completeFullRecompute();
    }

    Result<PlanExport> write(const std::string& heading);

private:
    /// A file on the way and how far it is from the plan.
    struct Draft
    {
        Edits settings;
        ConfigDocument document;
        std::vector<FieldDifference> wrong; ///< `before` is the file's, `after` the plan's
        std::vector<FieldDifference> assumed;
        std::size_t cost = 0;

        [[nodiscard]] bool isWrong(const std::string& field) const
        {
            return std::any_of(wrong.begin(), wrong.end(),
                               [&](const FieldDifference& one) { return one.key == field; });
        }
    };

    void completeFullRecompute();
    [[nodiscard]] std::optional<Draft> draftOf(Edits settings) const;
    bool improve(Draft& draft, const FieldDifference& field) const;
    bool improveAll(Draft& draft, bool onlyStated) const;
    [[nodiscard]] std::vector<Edits> waysToSay(const Draft& draft, const std::string& field,
                                               const std::string& value) const;
    [[nodiscard]] std::optional<Edits> conditions(const Draft& draft, const ConfigFormat::Variant& variant) const;
    void addKeys(std::vector<Edits>& ways, const Draft& draft, const Edits& before,
                 const std::vector<ConfigFormat::Key>& keys, const std::string& field, const std::string& value) const;
    void addLauncher(std::vector<Edits>& ways, const std::string& value) const;

    const ConfigFormat& m_format;
    const ConfigFormat::Export& m_way;
    const Catalog& m_catalog;
    std::string m_name;
    TrainingPlan m_plan;
    std::string m_preset;
};

/// Megatron-LM refuses full recompute without a method and a number of layers (transformer_config.py); one layer after
/// the other is what the plan means without.
void PlanExporter::completeFullRecompute()
{
    RecomputePlan& recompute = m_plan.recompute;
    if (m_format.rules == "megatron" && recompute.granularity.value == Granularity::Full
        && !recompute.method.isKnown()) {
        const Origin origin{OriginKind::Derived, 0, nullptr};
        recompute.method.set("uniform", origin);
        recompute.numLayers.set(1, origin);
    }
}

std::optional<PlanExporter::Draft> PlanExporter::draftOf(Edits settings) const
{
    const auto text = newFile(m_way, settings, {});
    auto document = text.and_then([&](const std::string& bytes) {
        // A script that sets nothing is no config, but it is where every script begins.
        return settings.empty() ? ConfigDocument::parse("{}\n", {}) : ConfigDocument::parse(bytes, m_name);
    });
    if (!document) {
        return std::nullopt;
    }
    PlanReading reading = readPlan(*document, m_format, m_catalog);
    if (reading.plan.model.vocab.origin.kind == OriginKind::Default) {
        reading.plan.model.vocab = {}; // assumed for want of a tokenizer, which is no way to say it
    }
    Draft draft{std::move(settings), std::move(*document), {}, {}, 0};
    for (FieldDifference& field : difference(comparable(reading.plan), m_plan)) {
        const bool isPresets = fieldOrigin(reading.plan, field.key).kind == OriginKind::Preset;
        if (field.key == "framework" || field.key == "model.name") {
            continue; // no memory depends on names
        }
        (!field.after.empty() || isPresets ? draft.wrong : draft.assumed).push_back(std::move(field));
    }
    draft.cost = draft.wrong.size()
        + static_cast<std::size_t>(std::count_if(draft.assumed.begin(), draft.assumed.end(),
                                                 [](const FieldDifference& field) { return isOfATower(field.key); }))
        + static_cast<std::size_t>(
                     std::count_if(reading.problems.begin(), reading.problems.end(),
                                   [](const Problem& problem) { return problem.severity == Severity::Error; }));
    return draft;
}

/// What has to be written for the variant to hold; nothing when it can't be made to.
std::optional<Edits> PlanExporter::conditions(const Draft& draft, const ConfigFormat::Variant& variant) const
{
    Edits edits;
    for (const ConfigFormat::Condition& condition : variant.when) {
        const bool holds = condition.values.empty()
            ? std::any_of(condition.keys.begin(), condition.keys.end(),
                          [&](const std::string& key) { return hasKey(draft.document, key); })
            : settingThatHolds(draft.document, condition) != nullptr;
        if (holds) {
            continue;
        }
        if (condition.values.empty() || hasKey(draft.document, condition.keys.front())) {
            return std::nullopt;
        }
        edits.push_back({condition.keys.front(), condition.values.front()});
    }
    return edits;
}

void PlanExporter::addKeys(std::vector<Edits>& ways, const Draft& draft, const Edits& before,
                           const std::vector<ConfigFormat::Key>& keys, const std::string& field,
                           const std::string& value) const
{
    for (const ConfigFormat::Key& key : keys) {
        if (key.field != field || (key.isEnvironment && (m_way.ending != ".sh" || key.key.find('.') != key.key.npos))) {
            continue; // a file that starts nothing sets no variables
        }
        const auto edit = writeValue(draft.document, key, value, nullptr);
        if (!edit || !hasWordFor(key, value)) {
            continue;
        }
        ways.push_back(before);
        ways.back().push_back(*edit);
        // Other words may mean the same here and something else for another field.
        for (const auto& [word, meaning] : key.words) {
            if (meaning == value && !edit->items && word != edit->value) {
                ways.push_back(before);
                ways.back().push_back({edit->key, word});
            }
        }
    }
}

/// Nodes and processes on each; a node of the servers these launchers are for has eight GPUs.
void PlanExporter::addLauncher(std::vector<Edits>& ways, const std::string& value) const
{
    constexpr std::int64_t perNode = 8;
    const auto world = parseInteger(value);
    if (!world || m_way.launcherFlags.size() != 2 || (*world > perNode && *world % perNode != 0)) {
        return;
    }
    const std::int64_t nodes = std::max<std::int64_t>(*world / perNode, 1);
    ways.push_back(
        {{m_way.launcherFlags[0], std::to_string(nodes)}, {m_way.launcherFlags[1], std::to_string(*world / nodes)}});
}

std::vector<Edits> PlanExporter::waysToSay(const Draft& draft, const std::string& field, const std::string& value) const
{
    std::vector<Edits> ways;
    const auto standing = variantsOf(draft.document, m_format);
    for (const ConfigFormat::Variant* variant : standing) {
        addKeys(ways, draft, {}, variant->keys, field, value);
    }
    addKeys(ways, draft, {}, m_format.keys, field, value);
    for (const ConfigFormat::Variant& variant : m_format.variants) {
        const auto needed = conditions(draft, variant);
        if (!needed || needed->empty()) {
            continue;
        }
        const bool isImplied
            = std::any_of(variant.implied.begin(), variant.implied.end(), [&](const ConfigFormat::Key& implied) {
                  return implied.field == field && implied.key == value;
              });
        if (isImplied) {
            ways.push_back(*needed);
        }
        addKeys(ways, draft, *needed, variant.keys, field, value);
    }
    if (field == "parallel.world") {
        addLauncher(ways, value);
    }
    return ways;
}

/// Takes the first way that says the field rightly, or else the one that brings the file closest.
bool PlanExporter::improve(Draft& draft, const FieldDifference& field) const
{
    std::vector<Edits> ways = waysToSay(draft, field.key, field.after);
    if (field.key.starts_with("precision.")) {
        // A format that names no types has one word for all of them.
        for (const PrecisionRecipe& recipe : precisionRecipes()) {
            const auto more = waysToSay(draft, "precision.recipe", std::string(recipe.id));
            ways.insert(ways.end(), more.begin(), more.end());
        }
    }
    std::optional<Draft> best;
    for (const Edits& way : ways) {
        Edits settings = draft.settings;
        for (const ConfigEdit& edit : way) {
            std::erase_if(settings, [&](const ConfigEdit& old) { return old.key == edit.key; });
            settings.push_back(edit);
        }
        auto next = draftOf(std::move(settings));
        if (next && next->cost < (best ? best->cost : draft.cost)) {
            best = std::move(next);
            if (!best->isWrong(field.key) && !field.key.starts_with("precision.")) {
                break;
            }
        }
    }
    if (best) {
        draft = std::move(*best);
    }
    return best.has_value();
}

bool PlanExporter::improveAll(Draft& draft, bool onlyStated) const
{
    bool isBetter = false;
    const std::vector<FieldDifference> wrong = draft.wrong;
    for (const FieldDifference& field : wrong) {
        const OriginKind kind = fieldOrigin(m_plan, field.key).kind;
        const bool isStated = kind != OriginKind::Derived && kind != OriginKind::Default;
        if (!field.after.empty() && draft.isWrong(field.key) && (isStated || !onlyStated)) {
            isBetter = improve(draft, field) || isBetter;
        }
    }
    return isBetter;
}

Result<PlanExport> PlanExporter::write(const std::string& heading)
{
    auto draft = draftOf({});
    if (!draft) {
        return failure(Text{HEADROOM_TR("core", "no file of the format “%1” can be written"), {m_format.title}});
    }
    // A preset's name says most of a model at once.
    if (!m_preset.empty()) {
        improve(*draft, {"model.name", {}, m_preset});
    }
    // What somebody stated determines most of the rest.
    for (const bool onlyStated : {true, false}) {
        while (improveAll(*draft, onlyStated)) { }
    }
    const auto bytes = newFile(m_way, draft->settings, heading);
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    PlanExport result{*bytes, m_name, {}, std::move(draft->assumed)};
    for (FieldDifference& field : draft->wrong) {
        if (field.key.starts_with("hardware.")) {
            continue; // the machine is no part of a run's config
        }
        result.omitted.push_back({std::move(field.key), std::move(field.after), std::move(field.before)});
    }
    return result;
}

} // namespace

std::vector<const ConfigFormat*> exportFormats(const ConfigFormats& formats)
{
    std::vector<const ConfigFormat*> found;
    for (const ConfigFormat& format : formats.formats) {
        if (format.exported) {
            found.push_back(&format);
        }
    }
    return found;
}

std::string exportHeading(const std::string& source)
{
    const std::string name = std::filesystem::path(source).filename().string();
    return "Written by Headroom from " + (name.empty() ? "a plan" : name)
        + ".\nHere is what memory depends on; data, checkpoints and the learning rate are yours to add.";
}

Result<PlanExport> exportPlan(const TrainingPlan& plan, const ConfigFormat& format, const Catalog& catalog,
                              const std::string& name, const std::string& heading)
{
    if (!format.exported) {
        return failure(Text{HEADROOM_TR("core", "no file of the format “%1” can be written"), {format.title}});
    }
    return PlanExporter(plan, format, catalog, name + format.exported->ending).write(heading);
}

} // namespace headroom
