// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/calibrate.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// A calibration that outlives its log: a small YAML file that people can read, name and hand on.
struct SavedCalibration
{
    std::string name;
    std::string date; ///< ISO 8601
    std::vector<std::string> logs; ///< file names
    std::int64_t points = 0;
    Calibration calibration;
    double k = 0, theoryK = 0;
    /// Settings of the measured run that say which tensors there are, by canonical field: with others the coefficients
    /// are of other tensors.
    std::vector<std::pair<std::string, std::string>> settings;
};

/// `points` and `calibrated` belong together. Refused where another setting explains the measurements: a coefficient
/// would be wrong for every other plan.
[[nodiscard]] Result<SavedCalibration> savedCalibration(std::string name, std::string date,
                                                        std::span<const CalibrationPoint> points,
                                                        const Calibrated& calibrated);

/// Fails as ConfigDocument::open does, and for what is no calibration, with file and line.
[[nodiscard]] Result<SavedCalibration> readCalibration(const std::filesystem::path& path);
[[nodiscard]] Result<void> writeCalibration(const SavedCalibration& saved, const std::filesystem::path& path);

/// Where a calibration of this name is kept in the user's folder; a text with a slash or the ending .yaml is a path
/// itself. Fails for an empty name and without a folder.
[[nodiscard]] Result<std::filesystem::path> calibrationPath(const std::string& nameOrPath,
                                                            const std::filesystem::path& userFolder);
/// Those of the user's folder, by name.
[[nodiscard]] std::vector<std::filesystem::path> calibrationFiles(const std::filesystem::path& userFolder);

/// What the plan has other than the run that was measured, as warnings.
[[nodiscard]] std::vector<Text> doubtsOf(const SavedCalibration& saved, const TrainingPlan& plan);

} // namespace headroom
