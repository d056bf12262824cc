// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration_options.h"

#include <fmt/format.h>

#include <chrono>

namespace headroom::cli {

namespace {

Result<void> saveCalibration(const std::string& nameOrPath, const std::vector<CalibrationPoint>& points,
                             const Calibrated& calibrated)
{
    const auto path = calibrationPath(nameOrPath, userFolder());
    if (!path) {
        return tl::unexpected(path.error());
    }
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    const std::chrono::year_month_day date(today);
    const auto saved
        = savedCalibration(path->stem().string(),
                           fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day())),
                           points, calibrated);
    return saved ? writeCalibration(*saved, *path) : tl::unexpected(saved.error());
}

/// The logs are of the files' own plan; what --set changes is what the calibration then predicts.
Result<void> calibrateOnLogs(const PlanOptions& options, const std::vector<Run>& logs, Inputs& inputs)
{
    const TrainingPlan& plan = inputs.original ? *inputs.original : inputs.plan;
    std::vector<CalibrationPoint> points;
    for (const Run& log : logs) {
        auto found = calibrationPoints(log, summarise(log), plan);
        if (!found) {
            return tl::unexpected(found.error());
        }
        points.insert(points.end(), found->begin(), found->end());
    }
    auto calibrated = calibrate(points);
    if (!calibrated) {
        return tl::unexpected(calibrated.error());
    }
    if (!options.saveCalibration.empty()) {
        if (auto done = saveCalibration(options.saveCalibration, points, *calibrated); !done) {
            return done;
        }
    }
    inputs.calibration = calibrated->calibration;
    inputs.calibrated = std::move(*calibrated);
    return {};
}

Result<void> useCalibration(const std::string& nameOrPath, Inputs& inputs)
{
    const auto path = calibrationPath(nameOrPath, userFolder());
    if (!path) {
        return tl::unexpected(path.error());
    }
    auto saved = readCalibration(*path);
    if (!saved) {
        return tl::unexpected(saved.error());
    }
    for (Text& doubt : doubtsOf(*saved, inputs.plan)) {
        inputs.problems.push_back({Severity::Warning, path->string(), 0, std::move(doubt)});
    }
    inputs.calibration = saved->calibration;
    inputs.savedCalibration = std::move(*saved);
    return {};
}

} // namespace

Result<std::vector<Run>> readCalibrationLogs(const PlanOptions& options)
{
    std::vector<Run> runs;
    for (const std::string& path : options.calibrate) {
        auto log = readLogs({path});
        if (!log) {
            return tl::unexpected(log.error());
        }
        if (log->isEmpty()) {
            return failure(Text{HEADROOM_TR("core", "the log has no memory measurements")}, path, 0);
        }
        runs.push_back(std::move(*log));
    }
    return runs;
}

Result<void> applyCalibration(const PlanOptions& options, const std::vector<Run>& logs, Inputs& inputs)
{
    if (!logs.empty()) {
        return calibrateOnLogs(options, logs, inputs);
    }
    return options.calibration.empty() ? Result<void>{} : useCalibration(options.calibration, inputs);
}

} // namespace headroom::cli
