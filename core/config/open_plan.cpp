// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/open_plan.h"

#include "config/format_keys.h"
#include "config/named_files.h"
#include "config/read_plan.h"
#include "plan/field_kinds.h"
#include "plan/fields.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace headroom {

namespace {

/// The field stands at `place` without being understood.
void markUnclear(TrainingPlan& plan, std::string_view field, const Origin& place)
{
    forEachField(plan, [&](std::string_view key, auto& value) {
        if (key == field) {
            value.origin = place;
        }
    });
}

/// What the plan says beside its preset.
TrainingPlan withoutPreset(const TrainingPlan& plan)
{
    TrainingPlan rest;
    forEachField(plan, [&](std::string_view key, const auto& field) {
        if (field.isKnown() && field.origin.kind != OriginKind::Preset) {
            // The text of a field that was read is always legal.
            std::ignore = setField(rest, key, fieldText(plan, key), field.origin);
        } else if (field.isUnclear()) {
            markUnclear(rest, key, field.origin);
        }
    });
    return rest;
}

/// What describes the model, stated or from a preset. How long sound is, is fixed by the encoder's positions.
TrainingPlan modelPart(const TrainingPlan& plan)
{
    const bool hearsSound = plan.model.audioBins.isKnown();
    TrainingPlan model;
    forEachField(plan, [&](std::string_view key, const auto& field) {
        const bool isLength = key == "batch.seq" || key == "batch.decoder_seq";
        if (!isModelField(key) && !(hearsSound && isLength)) {
            return;
        }
        if (field.isStated()) {
            // The text of a field that was read is always legal.
            std::ignore = setField(model, key, fieldText(plan, key), field.origin);
        } else if (field.isUnclear()) {
            markUnclear(model, key, field.origin);
        }
    });
    return model;
}

/// A config with the files that it names, none of which is read twice: they may name one another.
class Opening
{
public:
    Opening(const ConfigFormats& formats, const Catalog& catalog)
        : m_formats(formats)
        , m_catalog(catalog)
    {
    }

    Result<OpenedConfig> open(const std::filesystem::path& path)
    {
        return ConfigDocument::open(path).and_then([&](ConfigDocument document) { return open(std::move(document)); });
    }

    Result<OpenedConfig> open(ConfigDocument document)
    {
        const ConfigFormat* format = m_formats.detect(document);
        if (format == nullptr) {
            return failure(
                Text{HEADROOM_TR(
                    "core",
                    "no known config format has these keys; a config has blocks such as parallel, train or recompute")},
                document.name());
        }
        std::error_code error;
        m_visited.insert(std::filesystem::weakly_canonical(document.name(), error));
        PlanReading reading = readPlan(document, *format, m_catalog);
        OpenedConfig opened{std::move(document), format, std::move(reading.plan), {}, std::move(reading.notEstimated)};
        opened.problems = opened.document.problems();
        opened.problems.insert(opened.problems.end(), reading.problems.begin(), reading.problems.end());
        addNamedFiles(opened);
        noteUnknownModel(opened);
        const auto own = settingsWithoutEffect(opened.document, *format, opened.plan);
        opened.withoutEffect.insert(opened.withoutEffect.begin(), own.begin(), own.end());
        return opened;
    }

private:
    /// The parts of a plan, from the weakest to the strongest.
    struct Parts
    {
        TrainingPlan model, below, above;
        bool hasModel = false;
    };

    static constexpr std::size_t mostFiles = 32;

    void addNamedFiles(OpenedConfig& opened)
    {
        Parts parts;
        for (const NamedFile& file : namedFiles(opened.document, *opened.format)) {
            const auto path = findNamedFile(opened.document.name(), file);
            std::error_code error;
            if (!path) {
                noteMissing(opened, file);
            } else if (m_visited.size() < mostFiles
                       && !m_visited.contains(std::filesystem::weakly_canonical(*path, error))) {
                addFile(opened, file, *path, parts);
            }
        }
        if (opened.files.empty()) {
            return;
        }
        TrainingPlan plan = std::move(parts.model);
        overlay(plan, parts.below);
        // A preset is a whole model: nothing of it goes with another one.
        overlay(plan, parts.hasModel ? withoutPreset(opened.plan) : opened.plan);
        overlay(plan, parts.above);
        if (!opened.format->keys.empty()) {
            plan.framework = opened.plan.framework;
        }
        opened.plan = std::move(plan);
    }

    /// What is odd about another file is no error of this one.
    void addFile(OpenedConfig& opened, const NamedFile& file, const std::filesystem::path& path, Parts& parts)
    {
        auto other = open(path);
        if (!other) {
            other.error().severity = Severity::Warning;
            opened.problems.push_back(std::move(other.error()));
            return;
        }
        if (file.role == NamedFile::Role::Model) {
            parts.model = modelPart(other->plan);
            parts.hasModel = parts.model.model.layers.isKnown() || parts.model.model.hidden.isKnown();
        } else {
            overlay(file.role == NamedFile::Role::Above ? parts.above : parts.below, other->plan);
        }
        if (file.role == NamedFile::Role::Beside) {
            compareBatch(opened, *other);
        }
        opened.files.push_back(other->document.name());
        const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
        append(opened.files, other->files);
        append(opened.problems, other->problems);
        append(opened.withoutEffect, other->withoutEffect);
        append(opened.notEstimated, other->notEstimated);
    }

    /// A batch size that both files state, each its own, stops the run.
    static void compareBatch(OpenedConfig& opened, const OpenedConfig& other)
    {
        for (const char* field : {"batch.micro", "batch.accum", "batch.global"}) {
            const Origin here = fieldOrigin(opened.plan, field);
            const Origin there = fieldOrigin(other.plan, field);
            const std::string value = fieldText(other.plan, field);
            if (here.kind == OriginKind::ConfigFile && there.kind == OriginKind::ConfigFile
                && value != fieldText(opened.plan, field)) {
                opened.problems.push_back(
                    {Severity::Warning, opened.document.name(), here.line,
                     Text{HEADROOM_TR("core",
                                      "%1 is %2 here and %3 on line %4 of %5; the trainer refuses such a pair, auto "
                                      "there would follow this file"),
                          {field, fieldText(opened.plan, field), value, std::to_string(there.line),
                           other.document.name()}}});
            }
        }
    }

    static void noteMissing(OpenedConfig& opened, const NamedFile& file)
    {
        const bool isModelKnown = file.role == NamedFile::Role::Model && opened.plan.model.layers.isKnown();
        if (!mustBeFile(file) || isModelKnown) {
            return;
        }
        opened.problems.push_back(
            {Severity::Note, opened.document.name(), file.setting->line,
             Text{HEADROOM_TR("core", "“%1” is not on this machine, so what it says is not known"), {file.text}}});
    }

    /// A name that stands for a model elsewhere says nothing here, and without the model there is no estimate.
    static void noteUnknownModel(OpenedConfig& opened)
    {
        if (opened.plan.model.layers.isKnown() || opened.plan.model.hidden.isKnown()) {
            return;
        }
        std::vector<std::string> keys = opened.format->presetHints;
        keys.insert(keys.end(), opened.format->files.models.begin(), opened.format->files.models.end());
        for (const std::string& key : keys) {
            const Setting* setting = statedAt(opened.document, key);
            if (setting != nullptr && setting->isKnown && !setting->text.empty()
                && !mustBeFile({setting->text, NamedFile::Role::Model, setting})) {
                opened.problems.push_back(
                    {Severity::Note, opened.document.name(), setting->line,
                     Text{HEADROOM_TR("core", "“%1” is not a model known here; its sizes are in its config.json"),
                          {setting->text}}});
                return;
            }
        }
    }

    const ConfigFormats& m_formats;
    const Catalog& m_catalog;
    std::set<std::filesystem::path> m_visited;
};

} // namespace

Result<OpenedConfig> openConfig(const std::filesystem::path& path, const ConfigFormats& formats, const Catalog& catalog)
{
    return Opening(formats, catalog).open(path);
}

Result<OpenedConfig> openConfig(ConfigDocument document, const ConfigFormats& formats, const Catalog& catalog)
{
    return Opening(formats, catalog).open(std::move(document));
}

Result<TrainingPlan> openModel(const std::string& nameOrPath, const ConfigFormats& formats, const Catalog& catalog,
                               std::vector<Problem>* problems)
{
    if (const ModelPreset* preset = catalog.model(nameOrPath)) {
        return preset->plan;
    }
    std::error_code error;
    if (!std::filesystem::exists(nameOrPath, error)) {
        return failure(Text{
            HEADROOM_TR("core", "“%1” is neither a model preset nor a file; headroom-cli models lists the presets"),
            {nameOrPath}});
    }
    const auto folderFile = std::filesystem::path(nameOrPath) / "config.json";
    const bool isFolder = std::filesystem::is_directory(nameOrPath, error);
    const auto opened = openConfig(isFolder ? folderFile : std::filesystem::path(nameOrPath), formats, catalog);
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    TrainingPlan model = modelPart(opened->plan);
    if (!model.model.layers.isKnown() && !model.model.hidden.isKnown()) {
        return failure(Text{HEADROOM_TR("core", "this file does not describe a model: neither layers nor hidden size")},
                       nameOrPath);
    }
    if (problems != nullptr) {
        problems->insert(problems->end(), opened->problems.begin(), opened->problems.end());
    }
    return model;
}

Result<void> resolveGpu(TrainingPlan& plan, const Catalog& catalog)
{
    if (!plan.hardware.gpu.isKnown()) {
        return {};
    }
    const Gpu* gpu = catalog.gpu(plan.hardware.gpu.value);
    if (gpu == nullptr) {
        const Origin& origin = plan.hardware.gpu.origin;
        return failure(
            Text{HEADROOM_TR("core", "“%1” is not a GPU known here; give its capacity, or see headroom-cli gpus"),
                 {plan.hardware.gpu.value}},
            origin.source ? *origin.source : std::string{}, origin.line);
    }
    if (!plan.hardware.capacityBytes.isStated()) {
        plan.hardware.capacityBytes.set(gpu->capacity.value,
                                        {OriginKind::Derived, 0, std::make_shared<const std::string>(gpu->title)});
    }
    return {};
}

TrainingPlan composePlan(const TrainingPlan& model, std::span<const OpenedConfig> configs, const Catalog& catalog)
{
    const bool isModelNamed = model.model.layers.isKnown() || model.model.hidden.isKnown();
    TrainingPlan plan;
    for (const OpenedConfig& config : configs) {
        // A preset is a whole model: nothing of it (a vision tower, experts) goes with another one.
        overlay(plan, isModelNamed ? withoutPreset(config.plan) : config.plan);
    }
    // The model was named on its own, so it replaces what a config says in passing.
    overlay(plan, model);
    // An unknown GPU leaves the capacity unknown, which the verdict says.
    std::ignore = resolveGpu(plan, catalog);
    return plan;
}

} // namespace headroom
