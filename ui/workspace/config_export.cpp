// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/config_export.h"

#include "config/format_keys.h"
#include "config/read_plan.h"
#include "plan/fields.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace headroom {
namespace {

bool isExported(const FieldDifference& field, const LoadedConfig& config, const TrainingPlan& original)
{
    constexpr std::array<std::string_view, 4> alwaysWritten{"parallel.", "batch.", "recompute.", "frozen."};
    if (std::any_of(alwaysWritten.begin(), alwaysWritten.end(),
                    [&](std::string_view prefix) { return field.key.starts_with(prefix); })) {
        return true;
    }
    const Origin origin = fieldOrigin(original, field.key);
    if (origin.kind == OriginKind::ConfigFile && origin.source) {
        return *origin.source == config.opened.document.name();
    }
    constexpr std::array<std::string_view, 5> whereThereIsAKey{"optimizer.", "precision.", "shard.", "attention.",
                                                               "lora."};
    return std::any_of(whereThereIsAKey.begin(), whereThereIsAKey.end(),
                       [&](std::string_view prefix) { return field.key.starts_with(prefix); })
        && !keysOf(config.opened.document, *config.opened.format, field.key).empty();
}

} // namespace

Result<ConfigDocument> adjustedConfig(const LoadedConfig& config, const TrainingPlan& original,
                                      const TrainingPlan& draft)
{
    TrainingPlan after = original;
    for (const FieldDifference& field : difference(original, draft)) {
        if (!isExported(field, config, original) || field.after.empty()) {
            continue;
        }
        if (auto set = setField(after, field.key, field.after, Origin{OriginKind::Edited, 0, nullptr}); !set) {
            return tl::unexpected(std::move(set.error()));
        }
    }
    auto edits = editsFor(config.opened.document, *config.opened.format, original, after);
    if (!edits) {
        return tl::unexpected(std::move(edits.error()));
    }
    if (edits->empty()) {
        return config.opened.document;
    }
    return config.opened.document.set(*edits);
}

std::vector<std::string> unwrittenFields(const LoadedConfig& config, const TrainingPlan& original,
                                         const TrainingPlan& draft)
{
    std::vector<std::string> fields;
    for (FieldDifference& field : difference(original, draft)) {
        if (!field.key.starts_with("hardware.") && !isExported(field, config, original)) {
            fields.push_back(std::move(field.key));
        }
    }
    return fields;
}

bool changedOnDisk(const LoadedConfig& config)
{
    const auto now = ConfigDocument::open(config.path);
    return !now || now->bytes() != config.opened.document.bytes();
}

std::filesystem::path exportPath(const std::filesystem::path& original, int number)
{
    std::string name = original.stem().string() + ".headroom";
    if (number > 1) {
        name += "-" + std::to_string(number);
    }
    return original.parent_path() / (name + original.extension().string());
}

std::filesystem::path freeExportPath(const std::filesystem::path& original)
{
    int number = 1;
    std::error_code error;
    while (std::filesystem::exists(exportPath(original, number), error) && number < 1000) {
        ++number;
    }
    return exportPath(original, number);
}

} // namespace headroom
