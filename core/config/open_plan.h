// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/catalog.h"
#include "config/config_document.h"
#include "config/config_format.h"
#include "config/settings_without_effect.h"
#include "plan/training_plan.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A config file as opened: its document, its format and the plan it states together with the files that it names.
struct OpenedConfig
{
    ConfigDocument document;
    const ConfigFormat* format = nullptr; ///< of the ConfigFormats given to openConfig
    TrainingPlan plan; ///< each value with its own file and line
    std::vector<Problem> problems; ///< of the document, of the reading and of the files it names
    std::vector<std::string> notEstimated; ///< keys that make an estimate incomplete
    std::vector<std::string> files = {}; ///< those named in the config, and in them, that were read
    std::vector<SettingWithoutEffect> withoutEffect = {}; ///< of this file and of those
};

[[nodiscard]] Result<OpenedConfig> openConfig(const std::filesystem::path& path, const ConfigFormats& formats,
                                              const Catalog& catalog);
[[nodiscard]] Result<OpenedConfig> openConfig(ConfigDocument document, const ConfigFormats& formats,
                                              const Catalog& catalog);

/// The fields that describe a model, from a preset's name or from a file (an HF config.json or the folder with one, a
/// config of any format). What was odd about the file is added to `problems` when it is given.
[[nodiscard]] Result<TrainingPlan> openModel(const std::string& nameOrPath, const ConfigFormats& formats,
                                             const Catalog& catalog, std::vector<Problem>* problems = nullptr);

/// Puts the plans together: the configs in order, later ones winning, then the model named apart from them. Resolves
/// the capacity of the GPU named where no capacity is stated.
[[nodiscard]] TrainingPlan composePlan(const TrainingPlan& model, std::span<const OpenedConfig> configs,
                                       const Catalog& catalog);
/// Sets the capacity from the plan's GPU name, unless a capacity is stated; the problem names a GPU that is not known.
[[nodiscard]] Result<void> resolveGpu(TrainingPlan& plan, const Catalog& catalog);

} // namespace headroom
