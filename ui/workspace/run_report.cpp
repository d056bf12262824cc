// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace/run_report.h"

#include "config/file_bytes.h"
#include "footprint/estimate.h"
#include "insight/report.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QDate>
#include <QLocale>

namespace headroom {
namespace {

std::string wordOf(const std::filesystem::path& path)
{
    return shellWord(path.string());
}

std::string estimateCommand(const Workspace& workspace)
{
    std::string command = "headroom-cli estimate";
    if (const LoadedConfig* config = workspace.config()) {
        command += " " + wordOf(config->path);
    }
    if (const LoadedModel* model = workspace.model()) {
        command += " --model " + (model->path.empty() ? shellWord(model->plan.model.name.value) : wordOf(model->path));
    }
    const TrainingPlan& plan = workspace.plan();
    for (const FieldDifference& field : difference(workspace.original().plan, plan)) {
        if (!field.key.starts_with("hardware.") && !field.after.empty()) {
            command += " --set " + shellWord(field.key + "=" + field.after);
        }
    }
    const HardwarePlan& original = workspace.original().plan.hardware;
    if (const auto capacity = workspace.capacity(); capacity && *capacity != Bytes{original.capacityBytes.value}) {
        command += plan.hardware.gpu.isKnown() ? " --gpu " + shellWord(plan.hardware.gpu.value)
                                               : " --capacity " + std::to_string(capacity->value) + "B";
    }
    return command;
}

std::string titleOf(const Workspace& workspace)
{
    QStringList names;
    for (const QString& path : workspace.openPaths()) {
        names.append(fileName(toPath(path)));
    }
    if (names.isEmpty() && workspace.model() != nullptr) {
        names.append(toQString(workspace.model()->plan.model.name.value));
    }
    return names.join(QStringLiteral(", ")).toStdString();
}

} // namespace

std::vector<std::string> commandsOf(const Workspace& workspace)
{
    std::vector<std::string> commands;
    if (workspace.config() != nullptr || workspace.model() != nullptr) {
        commands.push_back(estimateCommand(workspace));
    }
    if (const LoadedLog* log = workspace.log()) {
        std::string command = "headroom-cli log";
        for (const auto& path : log->paths) {
            command += " " + wordOf(path);
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

Result<void> saveReport(const Workspace& workspace, const std::filesystem::path& path)
{
    ReportContent content;
    content.title = titleOf(workspace);
    content.date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    content.program = "Headroom " HEADROOM_VERSION;
    const Text heading(HEADROOM_TR("core", "Findings"));
    content.language = translated(heading) == toQString(heading.english()) ? "en" : QLocale().bcp47Name().toStdString();
    content.verdict = Text{"%1", {workspace.verdict().sentence.toStdString()}};
    content.findings = workspace.findings();
    content.commands = commandsOf(workspace);
    if (workspace.footprint() != nullptr) {
        content.plan = &workspace.plan();
        content.original = &workspace.original().plan;
        content.footprint = workspace.footprint();
        Footprint recipe; // whose formulas these are
        if (estimate(workspace.plan(), workspace.draft().calibration, recipe)) {
            content.working = explain(workspace.plan(), workspace.draft().calibration, recipe, recipe.fullestStage);
        }
    }
    if (const LoadedLog* log = workspace.log()) {
        content.run = log->run.get();
        content.summary = &log->summary;
    }
    const Wording wording = [](const Text& text) { return translated(text).toStdString(); };
    const std::string suffix = path.extension().string();
    const bool isHtml = suffix == ".html" || suffix == ".htm";
    return writeFileAtomically(path, isHtml ? reportHtml(content, wording) : reportMarkdown(content, wording));
}

} // namespace headroom
