// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/open_plan.h"
#include "footprint/footprint.h"
#include "insight/saved_calibration.h"
#include "runlog/run.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What the user named on the command line to describe a run.
struct PlanOptions
{
    std::vector<std::string> configs;
    std::string model;
    std::vector<std::string> settings; ///< key=value
    std::string gpu;
    std::string capacity;
    std::int64_t world = 0;
    double k = 0;
    std::vector<std::string> calibrate; ///< logs of runs with the files' own plan
    std::string log; ///< of a run with it: check and report look at it
    std::string saveCalibration; ///< name or file
    std::string calibration; ///< one that was saved: name or file
};

/// What the plan is called after: its first file, or its model.
[[nodiscard]] std::string nameOf(const PlanOptions& options);

/// The folder with the user's own formats, models and GPUs: $XDG_CONFIG_HOME/headroom or ~/.config/headroom.
[[nodiscard]] std::filesystem::path userFolder();

/// Formats and catalog as the program ships them, with the user's own.
struct Knowledge
{
    ConfigFormats formats = ConfigFormats::load(userFolder());
    Catalog catalog = Catalog::load(userFolder());
};

/// Logs with the formats the program ships and the user's own.
[[nodiscard]] Result<Run> readLogs(const std::vector<std::string>& paths);

struct Inputs
{
    std::vector<OpenedConfig> configs;
    TrainingPlan plan;
    std::optional<TrainingPlan> original; ///< without --set, where that changes something
    std::optional<Run> run; ///< of --log, or of a log in the place of a config
    Calibration calibration;
    std::optional<Calibrated> calibrated; ///< where it came from, with --calibrate
    std::optional<SavedCalibration> savedCalibration; ///< the same, with --calibration
    std::vector<Problem> problems; ///< of all files, in order
    std::vector<SettingWithoutEffect> withoutEffect; ///< of all files
    std::vector<std::string> notEstimated; ///< keys of the files that make an estimate incomplete
};

/// Fields of parallelism that none of the configs can say.
[[nodiscard]] std::vector<std::string> lackingOf(const Inputs& inputs);

/// CONFIG…, --model, --set, --gpu, --capacity, --world, --k, --calibrate, --calibration: the same for every command
/// that needs a plan.
void addPlanOptions(CLI::App& command, PlanOptions& options);

[[nodiscard]] Result<Inputs> openInputs(const PlanOptions& options, const Knowledge& knowledge);

/// A key as people write it: a canonical field ("parallel.pp") or its name in the base format
/// ("parallel.pipeline_parallel_size"); empty when it is neither.
[[nodiscard]] std::string fieldOf(std::string_view key, const ConfigFormats& formats);

struct Assignment
{
    std::string key;
    std::string value;
};
[[nodiscard]] Result<Assignment> parseAssignment(const std::string& text);

/// Prints to stderr and returns BadInput.
int fail(const Problem& problem);
void printProblems(const std::vector<Problem>& problems);

} // namespace headroom::cli
