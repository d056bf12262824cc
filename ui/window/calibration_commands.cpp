// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/calibration_commands.h"

#include "panels/notices.h"
#include "window/actions.h"
#include "workspace/wording.h"
#include "workspace/workspace.h"

#include <QAction>
#include <QDate>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QStandardPaths>

namespace headroom {
namespace {

QString factorText(double factor)
{
    return QLocale().toString(factor, 'f', 3);
}

} // namespace

CalibrationCommands::CalibrationCommands(Workspace& workspace, MessageBar& messages, const Actions& actions,
                                         QWidget& window)
    : QObject(&window)
    , m_workspace(workspace)
    , m_messages(messages)
    , m_actions(actions)
    , m_window(window)
{
    connect(actions[Command::Calibrate], &QAction::triggered, this, &CalibrationCommands::calibrateOnLog);
    connect(actions[Command::SaveCalibration], &QAction::triggered, this, &CalibrationCommands::chooseWhereToSave);
    connect(actions[Command::UseCalibration], &QAction::triggered, this, &CalibrationCommands::chooseCalibration);
    connect(actions[Command::RemoveCalibration], &QAction::triggered, this, &CalibrationCommands::remove);
    connect(&workspace, &Workspace::draftChanged, this, &CalibrationCommands::updateActions);
    connect(&workspace, &Workspace::documentsChanged, this, &CalibrationCommands::updateActions);
    updateActions();
}

void CalibrationCommands::calibrateOnLog()
{
    const LoadedLog* log = m_workspace.log();
    if (log == nullptr) {
        return;
    }
    // The log is of what the files say; what was turned since is what the calibration predicts.
    const auto points = calibrationPoints(*log->run, log->summary, m_workspace.original().plan);
    if (!points) {
        say(Severity::Warning, translated(points.error()));
        return;
    }
    const auto found = calibrate(*points);
    if (!found) {
        say(Severity::Warning, translated(found.error()));
        return;
    }
    if (!found->suspects.empty()) {
        say(Severity::Warning,
            tr("Not calibrated: the log looks as if %1. With that the estimate meets its peaks, so the difference is "
               "not "
               "put into a coefficient.")
                .arg(translated(found->suspects.front().name)));
        return;
    }
    m_found = *savedCalibration({}, {}, *points, *found);
    m_workspace.setCalibration(found->calibration, tr("Calibrate on the log"));
    say(Severity::Note,
        tr("Calibrated on %1 measured peaks: activations are %2 × theory (95 %: %3 to %4), with %5 beside them.")
            .arg(QLocale().toString(static_cast<qlonglong>(points->size())), factorText(found->calibration.activations),
                 factorText(found->activations.low), factorText(found->activations.high),
                 gibText(found->calibration.offset)));
}

void CalibrationCommands::save(const QString& path)
{
    m_found->name = QFileInfo(path).completeBaseName().toStdString();
    m_found->date = QDate::currentDate().toString(Qt::ISODate).toStdString();
    if (const auto saved = writeCalibration(*m_found, toPath(path)); !saved) {
        say(Severity::Error, translated(saved.error()));
    } else {
        say(Severity::Note, tr("Calibration saved to %1").arg(path));
    }
}

void CalibrationCommands::use(const QString& path)
{
    const auto saved = readCalibration(toPath(path));
    if (!saved) {
        say(Severity::Error, translated(saved.error()));
        return;
    }
    m_workspace.setCalibration(saved->calibration, tr("Use calibration %1").arg(toQString(saved->name)));
    say(Severity::Note,
        tr("Calibration %1: activations are %2 × theory, with %3 beside them.")
            .arg(toQString(saved->name), factorText(saved->calibration.activations),
                 gibText(saved->calibration.offset)));
    for (const Text& doubt : doubtsOf(*saved, m_workspace.plan())) {
        m_messages.showMessage(Severity::Warning, translated(doubt));
    }
}

void CalibrationCommands::remove()
{
    m_workspace.setCalibration({}, tr("Remove calibration"));
}

void CalibrationCommands::chooseWhereToSave()
{
    QDir().mkpath(folder());
    QString path = QFileDialog::getSaveFileName(&m_window, tr("Save calibration"),
                                                QDir(folder()).filePath(tr("calibration") + QStringLiteral(".yaml")),
                                                tr("Calibrations (*.yaml)"));
    if (path.isEmpty()) {
        return;
    }
    if (QFileInfo(path).suffix().isEmpty()) {
        path += QStringLiteral(".yaml");
    }
    save(path);
}

void CalibrationCommands::chooseCalibration()
{
    const QString path
        = QFileDialog::getOpenFileName(&m_window, tr("Use calibration"), folder(), tr("Calibrations (*.yaml)"));
    if (!path.isEmpty()) {
        use(path);
    }
}

void CalibrationCommands::say(Severity severity, const QString& sentence)
{
    m_messages.clear();
    m_messages.showMessage(severity, sentence);
}

void CalibrationCommands::updateActions()
{
    const bool hasEstimate = m_workspace.footprint() != nullptr;
    m_actions[Command::Calibrate]->setEnabled(hasEstimate && m_workspace.log() != nullptr);
    m_actions[Command::UseCalibration]->setEnabled(hasEstimate);
    m_actions[Command::SaveCalibration]->setEnabled(isFoundInUse());
    m_actions[Command::RemoveCalibration]->setEnabled(m_workspace.draft().calibration.scalesTapes());
}

QString CalibrationCommands::folder() const
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation)
        + QStringLiteral("/headroom/calibrations");
}

bool CalibrationCommands::isFoundInUse() const
{
    Calibration own = m_workspace.draft().calibration;
    own.k.reset();
    return m_found && own == m_found->calibration;
}

} // namespace headroom
