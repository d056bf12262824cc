// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/file_commands.h"

#include "dialogs/export_as_dialog.h"
#include "dialogs/export_dialog.h"
#include "dialogs/model_dialog.h"
#include "panels/notices.h"
#include "runlog/loss_lines.h"
#include "window/settings.h"
#include "workspace/run_report.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include <algorithm>

namespace headroom {
namespace {

bool isLossFile(const QString& path)
{
    return QFileInfo(path).suffix().toLower() == QLatin1String("jsonl") && looksLikeLossLines(toPath(path));
}

} // namespace

FileCommands::FileCommands(Workspace& workspace, MessageBar& messages, QWidget& window)
    : QObject(&window)
    , m_workspace(workspace)
    , m_messages(messages)
    , m_window(window)
{
}

void FileCommands::openPaths(const QStringList& paths)
{
    if (paths.size() == 2 && std::all_of(paths.begin(), paths.end(), isLossFile)) {
        emit lossesChosen(paths[0], paths[1]);
        return;
    }
    const bool bringsConfig = std::any_of(paths.begin(), paths.end(), [this](const QString& path) {
        const QString suffix = QFileInfo(path).suffix().toLower();
        const bool isConfig
            = suffix == QLatin1String("yaml") || suffix == QLatin1String("yml") || suffix == QLatin1String("json");
        return isConfig && !m_workspace.openPaths().contains(path);
    });
    if (bringsConfig && !mayLoseChanges()) {
        return;
    }
    m_workspace.open(paths);
}

void FileCommands::chooseFiles()
{
    const QStringList paths = askForRun(tr("Open logs and configs"));
    if (!paths.isEmpty()) {
        openPaths(paths);
    }
}

QStringList FileCommands::askForFiles(const QString& title, const QString& filter)
{
    const QStringList paths
        = QFileDialog::getOpenFileNames(&m_window, title, Settings::value(Preference::LastFolder).toString(), filter);
    if (!paths.isEmpty()) {
        Settings::setValue(Preference::LastFolder, QFileInfo(paths.first()).absolutePath());
    }
    return paths;
}

QStringList FileCommands::askForRun(const QString& title)
{
    return askForFiles(
        title,
        tr("All files (*);;Logs (*.log *.txt *.out *.err);;Configs (*.yaml *.yml *.json *.jsonc *.toml *.sh *.py)"));
}

void FileCommands::chooseRunBefore()
{
    const QStringList paths
        = askForRun(tr("Choose the log or config of the run before; both together if you have them"));
    if (!paths.isEmpty()) {
        emit runBeforeChosen(paths);
    }
}

void FileCommands::chooseRunForHistory()
{
    const QStringList paths = askForRun(tr("Choose the log or config of a run; both together if you have them"));
    if (!paths.isEmpty()) {
        emit runForHistoryChosen(paths);
    }
}

void FileCommands::chooseLosses()
{
    const QString filter = tr("All files (*);;JSON lines (*.jsonl);;Logs (*.log *.txt *.out *.err)");
    QStringList paths = askForFiles(tr("Choose the losses of both runs"), filter);
    if (paths.size() == 1) {
        paths += askForFiles(tr("Choose the losses to compare %1 with").arg(fileName(toPath(paths.front()))), filter);
    }
    if (paths.size() == 2) {
        emit lossesChosen(paths[0], paths[1]);
    } else if (paths.size() > 2) {
        m_messages.showMessage(Severity::Warning, tr("Choose two files: the losses of two runs are compared."));
    }
}

void FileCommands::chooseModel()
{
    ModelDialog dialog(m_workspace.library().catalog, &m_window);
    if (dialog.exec() != QDialog::Accepted) {
        return;
    }
    if (dialog.wantsFile()) {
        chooseModelFile();
    } else if (const ModelPreset* preset = dialog.chosen()) {
        m_workspace.useModel(preset->plan, toQString(preset->title));
    }
}

void FileCommands::chooseModelFile()
{
    const QString path = QFileDialog::getOpenFileName(&m_window, tr("Open model file"),
                                                      Settings::value(Preference::LastFolder).toString(),
                                                      tr("Models (*.json *.yaml *.yml);;All files (*)"));
    if (!path.isEmpty()) {
        m_workspace.open({path});
    }
}

void FileCommands::exportConfig()
{
    ExportDialog dialog(m_workspace, &m_window);
    if (dialog.exec() == QDialog::Accepted) {
        m_messages.clear();
        m_messages.showMessage(Severity::Note, tr("Exported to %1").arg(pathText(dialog.savedPath())));
    }
}

void FileCommands::exportAs()
{
    ExportAsDialog dialog(m_workspace, &m_window);
    if (dialog.exec() == QDialog::Accepted) {
        m_messages.clear();
        m_messages.showMessage(Severity::Note, tr("Exported to %1").arg(pathText(dialog.savedPath())));
    }
}

void FileCommands::chooseReport()
{
    const QStringList open = m_workspace.openPaths();
    const QFileInfo first(open.isEmpty() ? QString() : open.last());
    const QString name = first.completeBaseName() + QStringLiteral(".report.html");
    const QString markdown = tr("Markdown, for an issue (*.md)");
    QString filter;
    QString path
        = QFileDialog::getSaveFileName(&m_window, tr("Save report"), first.dir().filePath(name),
                                       tr("HTML, with charts (*.html)") + QStringLiteral(";;") + markdown, &filter);
    if (path.isEmpty()) {
        return;
    }
    if (QFileInfo(path).suffix().isEmpty()) {
        path += filter == markdown ? QStringLiteral(".md") : QStringLiteral(".html");
    }
    saveReport(path);
}

void FileCommands::saveReport(const QString& path)
{
    m_messages.clear();
    if (const auto saved = headroom::saveReport(m_workspace, toPath(path)); !saved) {
        m_messages.showMessage(Severity::Error, translated(saved.error()));
    } else {
        m_messages.showMessage(Severity::Note, tr("Report saved to %1").arg(path));
    }
}

void FileCommands::close()
{
    if (mayLoseChanges()) {
        m_messages.clear();
        m_workspace.close();
        emit closed();
    }
}

bool FileCommands::mayLoseChanges()
{
    if (!m_workspace.isModified()) {
        return true;
    }
    switch (m_lossAnswer ? m_lossAnswer() : askAboutLoss()) {
    case Answer::Export:
        exportConfig();
        return !m_workspace.isModified();
    case Answer::Discard:
        return true;
    case Answer::Cancel:
        break;
    }
    return false;
}

FileCommands::Answer FileCommands::askAboutLoss()
{
    QMessageBox box(QMessageBox::Warning, tr("Changes not exported"),
                    tr("The changes to %1 have not been exported.").arg(fileName(m_workspace.config()->path)),
                    QMessageBox::NoButton, &m_window);
    const QAbstractButton* exporting = box.addButton(tr("&Export…"), QMessageBox::AcceptRole);
    const QAbstractButton* discarding = box.addButton(tr("&Discard"), QMessageBox::DestructiveRole);
    box.addButton(QMessageBox::Cancel);
    box.exec();
    if (box.clickedButton() == exporting) {
        return Answer::Export;
    }
    return box.clickedButton() == discarding ? Answer::Discard : Answer::Cancel;
}

} // namespace headroom
