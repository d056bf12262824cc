// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <map>

class QAction;
class QActionGroup;
class QUndoStack;

namespace headroom {

/// Every command of the window that is not made from data (recent files, samples, panels).
enum class Command {
    Open,
    Close,
    Export,
    ExportAs,
    SaveReport,
    CompareRuns,
    CompareLosses,
    ShowHistory,
    AddRun,
    AddRunFiles,
    RenameRun,
    ReferenceRun,
    MoveRunUp,
    MoveRunDown,
    RemoveRun,
    Reload,
    Quit,
    Undo,
    Redo,
    CopyVerdict,
    Find,
    FindNext,
    FindPrevious,
    GoToLine,
    ResetAll,
    ThemeSystem,
    ThemeLight,
    ThemeDark,
    ResetLayout,
    ZoomIn,
    ZoomOut,
    ZoomFit,
    ZoomBack,
    ZoomForward,
    MarkerA,
    MarkerB,
    ClearMarkers,
    Follow,
    Link,
    LogScale,
    Metrics,
    Channels,
    SaveChart,
    SaveValues,
    CopyChart,
    EnlargeDetails,
    FullScreen,
    PinBaseline,
    ResetBaseline,
    RecomputeNone,
    RecomputeSelective,
    RecomputeFull,
    FindFit,
    Calibrate,
    SaveCalibration,
    UseCalibration,
    RemoveCalibration,
    PlanValues,
    ChangeModel,
    OpenModel,
    OtherCapacity,
    Shortcuts,
    Licences,
    AboutQt,
    About
};

/// Owns the commands: text, icon, shortcut and status tip in one table. Who carries a command out connects to it.
class Actions : public QObject
{
    Q_OBJECT

public:
    explicit Actions(QUndoStack& undoStack, QObject* parent = nullptr);

    [[nodiscard]] QAction* operator[](Command command) const { return m_actions.at(command); }
    [[nodiscard]] const std::map<Command, QAction*>& all() const { return m_actions; }

private:
    std::map<Command, QAction*> m_actions;
    QActionGroup* m_themes;
};

} // namespace headroom
