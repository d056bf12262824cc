// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/open_plan.h"
#include "insight/run_summary.h"
#include "workspace/library.h"
#include "workspace/log_overview.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct LoadedLog
{
    std::vector<std::filesystem::path> paths; ///< as given: a folder stands for its files
    std::shared_ptr<const Run> run;
    RunSummary summary;
    LogOverview overview;
    std::optional<TrainingPlan> plan; ///< what the arguments that it lists say
    double seconds = 0; ///< the reading took
};

struct LoadedConfig
{
    std::filesystem::path path;
    OpenedConfig opened; ///< its format is one of the Library's
};

/// A second file that describes the model only: a Hugging Face config.json and the like.
struct LoadedModel
{
    std::filesystem::path path; ///< empty: a preset
    TrainingPlan plan;
    std::vector<Problem> problems; ///< of the reading
};

struct OpenedFiles
{
    std::optional<LoadedLog> log;
    std::optional<LoadedConfig> config;
    std::optional<LoadedModel> model;
    std::vector<Problem> problems; ///< files that could not be opened, and why
    bool wasCancelled = false;
};

/// A Run with all that is found out about it once.
[[nodiscard]] LoadedLog loadedLog(const std::vector<std::filesystem::path>& paths, Run run, const Library& library);

/// Called from reading threads with the share of bytes done and the name of the file; false cancels.
using OpenProgress = std::function<bool(double done, const std::string& name)>;

/// Opens what the paths are by their content: config files, model files, and logs for everything else that is text. A
/// folder is a run's logs, one per rank. Several logs become one Run; of several configs the last one counts.
[[nodiscard]] OpenedFiles openFiles(const std::vector<std::filesystem::path>& paths, const Library& library,
                                    const OpenProgress& progress);

} // namespace headroom
