// SPDX-License-Identifier: GPL-3.0-or-later
#include "insight/saved_calibration.h"

#include "config/config_document.h"
#include "config/file_bytes.h"
#include "footprint/tape/shape.h"
#include "plan/fields.h"
#include "units/number.h"

#include <array>
#include <set>
#include <system_error>

namespace headroom {

namespace {

constexpr std::string_view formatKey = "headroom_calibration";
constexpr std::string_view profileField = "implementation.profile";
constexpr std::string_view settingPrefix = "made_with.";
/// With another value here the tensors that were measured are not those of the plan.
constexpr std::array<std::string_view, 7> decisiveFields{
    "framework",         "attention.impl", "implementation.fused_loss", "recompute.granularity", "recompute.modules",
    "parallel.schedule", "precision.fp8"};

std::string settingOf(const TrainingPlan& plan, std::string_view field)
{
    return field == profileField ? std::string(profileOf(plan)) : fieldText(plan, field);
}

class Reader
{
public:
    explicit Reader(const ConfigDocument& document)
        : m_document(document)
    {
    }

    double number(std::string_view key)
    {
        const Setting* setting = m_document.find(key);
        const std::optional<double> value = setting ? parseReal(setting->text) : std::nullopt;
        if (!value && !m_problem) {
            m_problem = failure(Text{HEADROOM_TR("core", "%1 must be a number"), {std::string(key)}}, m_document.name(),
                                setting ? setting->line : 0)
                            .value();
        }
        return value.value_or(0);
    }

    std::string text(std::string_view key) const
    {
        const Setting* setting = m_document.find(key);
        return setting ? setting->text : std::string{};
    }

    [[nodiscard]] const std::optional<Problem>& problem() const { return m_problem; }

private:
    const ConfigDocument& m_document;
    std::optional<Problem> m_problem;
};

std::string nameOf(const std::filesystem::path& path)
{
    return path.stem().string();
}

} // namespace

Result<SavedCalibration> savedCalibration(std::string name, std::string date, std::span<const CalibrationPoint> points,
                                          const Calibrated& calibrated)
{
    if (!calibrated.suspects.empty() || points.empty()) {
        return failure(
            Text{HEADROOM_TR("core", "there is no coefficient to save: another setting explains what was measured")});
    }
    SavedCalibration saved;
    saved.name = std::move(name);
    saved.date = std::move(date);
    saved.points = std::ssize(points);
    saved.calibration = calibrated.calibration;
    saved.k = calibrated.k;
    saved.theoryK = calibrated.theoryK;
    std::set<std::string> logs;
    for (const CalibrationPoint& point : points) {
        logs.insert(std::filesystem::path(point.evidence.file).filename().string());
    }
    saved.logs.assign(logs.begin(), logs.end());
    const TrainingPlan& plan = points.front().plan;
    saved.settings.emplace_back(profileField, settingOf(plan, profileField));
    for (const std::string_view field : decisiveFields) {
        if (std::string value = settingOf(plan, field); !value.empty()) {
            saved.settings.emplace_back(field, std::move(value));
        }
    }
    return saved;
}

Result<SavedCalibration> readCalibration(const std::filesystem::path& path)
{
    const auto document = ConfigDocument::open(path);
    if (!document) {
        return tl::unexpected(document.error());
    }
    if (document->find(formatKey) == nullptr) {
        return failure(
            Text{HEADROOM_TR("core", "this is no calibration: it does not begin with %1"), {std::string(formatKey)}},
            document->name());
    }
    Reader reader(*document);
    SavedCalibration saved;
    saved.name = reader.text("name");
    saved.name = saved.name.empty() ? nameOf(path) : saved.name;
    saved.date = reader.text("date");
    saved.points = static_cast<std::int64_t>(std::clamp(reader.number("points"), 0.0, 1e9));
    saved.calibration.activations = reader.number("activations_factor");
    saved.calibration.offset = bytesFrom(reader.number("offset_bytes"));
    saved.calibration.spread = CalibrationSpread{reader.number("spread.activations"), reader.number("spread.both_gib"),
                                                 reader.number("spread.offset_gib2")};
    saved.k = reader.number("k");
    saved.theoryK = reader.number("theory_k");
    if (reader.problem()) {
        return tl::unexpected(*reader.problem());
    }
    if (!(saved.calibration.activations > 0 && saved.calibration.activations < 100)) {
        return failure(Text{HEADROOM_TR("core", "%1 must be above 0 and below %2"), {"activations_factor", "100"}},
                       document->name(), document->find("activations_factor")->line);
    }
    for (const Setting& setting : document->settings()) {
        if (setting.key.starts_with("logs[")) {
            saved.logs.push_back(setting.text);
        } else if (setting.key.starts_with(settingPrefix)) {
            saved.settings.emplace_back(setting.key.substr(settingPrefix.size()), setting.text);
        }
    }
    return saved;
}

Result<void> writeCalibration(const SavedCalibration& saved, const std::filesystem::path& path)
{
    const auto empty = ConfigDocument::parse(
        "# What measured peaks say beyond theory; headroom-cli estimate --calibration reads it.\n"
            + std::string(formatKey) + ": 1\n",
        path.string());
    if (!empty) {
        return tl::unexpected(empty.error());
    }
    const CalibrationSpread spread = saved.calibration.spread.value_or(CalibrationSpread{});
    std::vector<ConfigEdit> edits{{"name", saved.name},
                                  {"date", saved.date},
                                  {"logs", {}, saved.logs},
                                  {"points", std::to_string(saved.points)},
                                  {"activations_factor", formatReal(saved.calibration.activations)},
                                  {"offset_bytes", std::to_string(saved.calibration.offset.value)},
                                  {"k", formatReal(saved.k)},
                                  {"theory_k", formatReal(saved.theoryK)},
                                  {"spread.activations", formatReal(spread.activations)},
                                  {"spread.both_gib", formatReal(spread.both)},
                                  {"spread.offset_gib2", formatReal(spread.offset)}};
    for (const auto& [field, value] : saved.settings) {
        edits.push_back({std::string(settingPrefix) + field, value});
    }
    const auto document = empty->set(edits);
    if (!document) {
        return tl::unexpected(document.error());
    }
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error); // what is wrong shows when the file is written
    return document->save(path);
}

Result<std::filesystem::path> calibrationPath(const std::string& nameOrPath, const std::filesystem::path& userFolder)
{
    const bool isPath = nameOrPath.find('/') != std::string::npos || nameOrPath.ends_with(".yaml");
    if (isPath) {
        return std::filesystem::path(nameOrPath);
    }
    if (nameOrPath.empty() || nameOrPath.starts_with('.')) {
        return failure(Text{HEADROOM_TR("core", "“%1” cannot be the name of a calibration"), {nameOrPath}});
    }
    if (userFolder.empty()) {
        return failure(Text{HEADROOM_TR("core", "there is no home folder to keep calibrations in; give a file")});
    }
    return userFolder / "calibrations" / (nameOrPath + ".yaml");
}

std::vector<std::filesystem::path> calibrationFiles(const std::filesystem::path& userFolder)
{
    return yamlFiles(userFolder / "calibrations");
}

std::vector<Text> doubtsOf(const SavedCalibration& saved, const TrainingPlan& plan)
{
    std::vector<Text> doubts;
    for (const auto& [field, measured] : saved.settings) {
        const std::string own = settingOf(plan, field);
        if (own != measured) {
            doubts.push_back(Text{
                HEADROOM_TR("core",
                            "“%1” was measured with %2 = %3, the plan has %4: its coefficients may not carry over"),
                {saved.name, field, measured, own.empty() ? std::string("?") : own}});
        }
    }
    return doubts;
}

} // namespace headroom
