// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/open_plan.h"

#include "plan/fields.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace headroom {

namespace {

/// Describes a model rather than a run: what a preset or a second file may bring.
bool isModelField(std::string_view key)
{
    constexpr std::array groups{"model.", "moe.", "mla.", "vision.", "projector."};
    return std::any_of(groups.begin(), groups.end(), [key](const char* group) { return key.starts_with(group); });
}

/// What the plan says beside its preset.
TrainingPlan withoutPreset(const TrainingPlan& plan)
{
    TrainingPlan rest;
    forEachField(plan, [&](std::string_view key, const auto& field) {
        if (field.isKnown() && field.origin.kind != OriginKind::Preset) {
            // The text of a field that was read is always legal.
            std::ignore = setField(rest, key, fieldText(plan, key), field.origin);
        }
    });
    return rest;
}

} // namespace

Result<OpenedConfig> openConfig(const std::filesystem::path& path, const ConfigFormats& formats, const Catalog& catalog)
{
    return ConfigDocument::open(path).and_then(
        [&](ConfigDocument document) { return openConfig(std::move(document), formats, catalog); });
}

Result<OpenedConfig> openConfig(ConfigDocument document, const ConfigFormats& formats, const Catalog& catalog)
{
    const ConfigFormat* format = formats.detect(document);
    if (format == nullptr) {
        return failure(
            Text{HEADROOM_TR(
                "core",
                "no known config format has these keys; a config has blocks such as parallel, train or recompute")},
            document.name());
    }
    PlanReading reading = readPlan(document, *format, catalog);
    std::vector<Problem> problems = document.problems();
    problems.insert(problems.end(), reading.problems.begin(), reading.problems.end());
    return OpenedConfig{std::move(document), format, std::move(reading.plan), std::move(problems),
                        std::move(reading.notEstimated)};
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
    const auto opened = openConfig(nameOrPath, formats, catalog);
    if (!opened) {
        return tl::unexpected(opened.error());
    }
    TrainingPlan model;
    forEachField(opened->plan, [&](std::string_view key, const auto& field) {
        if (field.isStated() && isModelField(key)) {
            // The text of a field that was read is always legal.
            std::ignore = setField(model, key, fieldText(opened->plan, key), field.origin);
        }
    });
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
