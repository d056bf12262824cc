// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "insight/saved_calibration.h"

#include <QObject>

#include <optional>

class QWidget;

namespace headroom {

class Actions;
class MessageBar;
class Workspace;

/// Corrects the estimate by the peaks of the open log, keeps what was found and uses it on other plans. The outline of
/// the files' estimate stays theory's own, so that both stand side by side.
class CalibrationCommands : public QObject
{
    Q_OBJECT

public:
    CalibrationCommands(Workspace& workspace, MessageBar& messages, const Actions& actions, QWidget& window);

    void calibrateOnLog();
    void save(const QString& path);
    void use(const QString& path);
    void remove();

private:
    void chooseWhereToSave();
    void chooseCalibration();
    void say(Severity severity, const QString& sentence);
    void updateActions();
    [[nodiscard]] QString folder() const;
    [[nodiscard]] bool isFoundInUse() const;

    Workspace& m_workspace;
    MessageBar& m_messages;
    const Actions& m_actions;
    QWidget& m_window;
    std::optional<SavedCalibration> m_found; ///< of the log; its name and date follow when it is saved
};

} // namespace headroom
