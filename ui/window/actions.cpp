// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/actions.h"

#include "theme/icons.h"
#include "workspace/wording.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QUndoStack>

#include <array>
#include <optional>

namespace headroom {
namespace {

struct Row
{
    Command command{};
    const char* name = nullptr; ///< objectName
    const char* text = nullptr;
    const char* tip = nullptr;
    std::optional<Symbol> symbol = {};
    QKeySequence::StandardKey standard = QKeySequence::UnknownKey;
    const char* keys = nullptr; ///< beside the standard ones, separated by "; "
};

constexpr auto none = QKeySequence::UnknownKey;

const std::array rows{
    Row{Command::Open, "openAction", QT_TRANSLATE_NOOP("Actions", "&Open…"),
        QT_TRANSLATE_NOOP("Actions", "Opens logs, configs or a folder with the logs of a run"), Symbol::Open,
        QKeySequence::Open},
    Row{Command::Close,
        "closeAction",
        QT_TRANSLATE_NOOP("Actions", "&Close"),
        QT_TRANSLATE_NOOP("Actions", "Closes the log and the config"),
        {},
        QKeySequence::Close},
    Row{Command::Export, "exportAction", QT_TRANSLATE_NOOP("Actions", "&Export config…"),
        QT_TRANSLATE_NOOP("Actions", "Shows what changed in the config and saves it"), Symbol::Export, none,
        "Ctrl+E; Ctrl+Shift+S"},
    Row{Command::ExportAs,
        "exportAsAction",
        QT_TRANSLATE_NOOP("Actions", "Export &as…"),
        QT_TRANSLATE_NOOP("Actions", "Writes the plan in the format of another framework"),
        {},
        none,
        "Ctrl+Alt+E"},
    Row{Command::PlanValues,
        "planValuesAction",
        QT_TRANSLATE_NOOP("Actions", "All &values"),
        QT_TRANSLATE_NOOP("Actions", "Lists every value of the plan and where it comes from"),
        {},
        none,
        "Ctrl+I"},
    Row{Command::SaveReport,
        "saveReportAction",
        QT_TRANSLATE_NOOP("Actions", "Save re&port…"),
        QT_TRANSLATE_NOOP("Actions", "Saves verdict, charts, formulas and findings as one HTML or Markdown file"),
        {},
        none,
        "Ctrl+Shift+R"},
    Row{Command::CompareRuns,
        "compareRunsAction",
        QT_TRANSLATE_NOOP("Actions", "Compare &with…"),
        QT_TRANSLATE_NOOP("Actions", "Sets the run before, a log or a config, beside what is open"),
        {},
        none,
        "Ctrl+D"},
    Row{Command::CompareLosses,
        "compareLossesAction",
        QT_TRANSLATE_NOOP("Actions", "Co&mpare losses…"),
        QT_TRANSLATE_NOOP("Actions", "Tells whether the losses of two runs agree, from JSON lines or logs"),
        {},
        none,
        "Ctrl+Shift+D"},
    Row{Command::Reload,
        "reloadAction",
        QT_TRANSLATE_NOOP("Actions", "Re&load"),
        QT_TRANSLATE_NOOP("Actions", "Reads the open files again; what you turned stays"),
        {},
        QKeySequence::Refresh},
    Row{Command::SaveChart,
        "saveChartAction",
        QT_TRANSLATE_NOOP("Actions", "Save chart &image…"),
        QT_TRANSLATE_NOOP("Actions", "Saves the measured peaks as PNG, PDF or SVG"),
        {},
        none,
        "Ctrl+Shift+P"},
    Row{Command::SaveValues,
        "saveValuesAction",
        QT_TRANSLATE_NOOP("Actions", "Save &values in view…"),
        QT_TRANSLATE_NOOP("Actions", "Saves the steps in view as comma-separated values"),
        {},
        none,
        "Ctrl+Shift+E"},
    Row{Command::Quit,
        "quitAction",
        QT_TRANSLATE_NOOP("Actions", "&Quit"),
        QT_TRANSLATE_NOOP("Actions", "Leaves Headroom"),
        {},
        none,
        "Ctrl+Q"},
    Row{Command::CopyVerdict, "copyVerdictAction", QT_TRANSLATE_NOOP("Actions", "&Copy verdict"),
        QT_TRANSLATE_NOOP("Actions", "Copies the verdict as a sentence"), Symbol::Copy, none, "Ctrl+Shift+C"},
    Row{Command::CopyChart,
        "copyChartAction",
        QT_TRANSLATE_NOOP("Actions", "Copy c&hart"),
        QT_TRANSLATE_NOOP("Actions", "Copies a picture of the measured peaks"),
        {},
        none,
        "Ctrl+Alt+P"},
    Row{Command::Find,
        "findAction",
        QT_TRANSLATE_NOOP("Actions", "&Find in log…"),
        QT_TRANSLATE_NOOP("Actions", "Searches the text of the open files"),
        {},
        QKeySequence::Find},
    Row{Command::FindNext,
        "findNextAction",
        QT_TRANSLATE_NOOP("Actions", "Find &next"),
        QT_TRANSLATE_NOOP("Actions", "Goes to the next line with what is searched"),
        {},
        QKeySequence::FindNext},
    Row{Command::FindPrevious,
        "findPreviousAction",
        QT_TRANSLATE_NOOP("Actions", "Find &previous"),
        QT_TRANSLATE_NOOP("Actions", "Goes to the line before with what is searched"),
        {},
        QKeySequence::FindPrevious},
    Row{Command::GoToLine,
        "goToLineAction",
        QT_TRANSLATE_NOOP("Actions", "Go to &line…"),
        QT_TRANSLATE_NOOP("Actions", "Shows a line of the open file by its number"),
        {},
        none,
        "Ctrl+L"},
    Row{Command::ResetAll, "resetAllAction", QT_TRANSLATE_NOOP("Actions", "Reset &all"),
        QT_TRANSLATE_NOOP("Actions", "Sets every knob back to what the files say"), Symbol::Reset, none,
        "Ctrl+Backspace"},
    Row{Command::ThemeSystem,
        "themeSystemAction",
        QT_TRANSLATE_NOOP("Actions", "&System"),
        QT_TRANSLATE_NOOP("Actions", "Follows the light or dark colours of the desktop"),
        {},
        none,
        "Ctrl+F9"},
    Row{Command::ThemeLight,
        "themeLightAction",
        QT_TRANSLATE_NOOP("Actions", "&Light"),
        QT_TRANSLATE_NOOP("Actions", "Light colours"),
        {},
        none,
        "Ctrl+F10"},
    Row{Command::ThemeDark,
        "themeDarkAction",
        QT_TRANSLATE_NOOP("Actions", "&Dark"),
        QT_TRANSLATE_NOOP("Actions", "Dark colours"),
        {},
        none,
        "Ctrl+F11"},
    Row{Command::ResetLayout,
        "resetLayoutAction",
        QT_TRANSLATE_NOOP("Actions", "&Reset layout"),
        QT_TRANSLATE_NOOP("Actions", "Puts all panels back to where they were at first"),
        {},
        none,
        "Ctrl+F12"},
    Row{Command::ZoomIn, "zoomInAction", QT_TRANSLATE_NOOP("Actions", "Zoom &in"),
        QT_TRANSLATE_NOOP("Actions", "Shows fewer steps"), Symbol::ZoomIn, QKeySequence::ZoomIn, "Ctrl+="},
    Row{Command::ZoomOut, "zoomOutAction", QT_TRANSLATE_NOOP("Actions", "Zoom &out"),
        QT_TRANSLATE_NOOP("Actions", "Shows more steps"), Symbol::ZoomOut, QKeySequence::ZoomOut},
    Row{Command::ZoomFit, "zoomFitAction", QT_TRANSLATE_NOOP("Actions", "&Whole run"),
        QT_TRANSLATE_NOOP("Actions", "Shows all steps"), Symbol::Fit, none, "Ctrl+0"},
    Row{Command::ZoomBack,
        "zoomBackAction",
        QT_TRANSLATE_NOOP("Actions", "&Back"),
        QT_TRANSLATE_NOOP("Actions", "Shows the steps that were shown before"),
        {},
        none,
        "Alt+Left"},
    Row{Command::ZoomForward,
        "zoomForwardAction",
        QT_TRANSLATE_NOOP("Actions", "&Forward"),
        QT_TRANSLATE_NOOP("Actions", "Undoes going back"),
        {},
        none,
        "Alt+Right"},
    Row{Command::MarkerA,
        "markerAAction",
        QT_TRANSLATE_NOOP("Actions", "Marker &A at cursor"),
        QT_TRANSLATE_NOOP("Actions", "Puts marker A to the cursor's step, or takes it away"),
        {},
        none,
        "Ctrl+1"},
    Row{Command::MarkerB,
        "markerBAction",
        QT_TRANSLATE_NOOP("Actions", "&Marker B at cursor"),
        QT_TRANSLATE_NOOP("Actions", "Puts marker B to the cursor's step; the differences to A are shown"),
        {},
        none,
        "Ctrl+2"},
    Row{Command::ClearMarkers,
        "clearMarkersAction",
        QT_TRANSLATE_NOOP("Actions", "Clear mar&kers"),
        QT_TRANSLATE_NOOP("Actions", "Takes both markers away"),
        {},
        none,
        "Ctrl+3"},
    Row{Command::Follow,
        "followAction",
        QT_TRANSLATE_NOOP("Actions", "Follow &log"),
        QT_TRANSLATE_NOOP("Actions", "Keeps the newest steps in view while the log grows"),
        {},
        none,
        "Ctrl+Shift+L"},
    Row{Command::Link,
        "linkAction",
        QT_TRANSLATE_NOOP("Actions", "Li&nk charts"),
        QT_TRANSLATE_NOOP("Actions", "The heat map of the ranks covers the steps in view, else all"),
        {},
        none,
        "Ctrl+Shift+K"},
    Row{Command::LogScale,
        "logScaleAction",
        QT_TRANSLATE_NOOP("Actions", "Lo&g y"),
        QT_TRANSLATE_NOOP("Actions", "A logarithmic axis for the amounts"),
        {},
        none,
        "Ctrl+Shift+Y"},
    Row{Command::Metrics,
        "metricsAction",
        QT_TRANSLATE_NOOP("Actions", "Step time and &speed"),
        QT_TRANSLATE_NOOP("Actions", "Step time, tokens per second and loss below the peaks"),
        {},
        none,
        "Ctrl+Shift+T"},
    Row{Command::Channels,
        "channelsAction",
        QT_TRANSLATE_NOOP("Actions", "&Channels…"),
        QT_TRANSLATE_NOOP("Actions", "Chooses the lines of the chart by phase, rank and kind"),
        {},
        none,
        "Ctrl+K"},
    Row{Command::EnlargeDetails, "enlargeDetailsAction", QT_TRANSLATE_NOOP("Actions", "Enlarge &details"),
        QT_TRANSLATE_NOOP("Actions", "Gives the details the room of the charts, and back"), Symbol::Enlarge, none,
        "Shift+F11"},
    Row{Command::FullScreen,
        "fullScreenAction",
        QT_TRANSLATE_NOOP("Actions", "F&ull screen"),
        QT_TRANSLATE_NOOP("Actions", "Fills the screen"),
        {},
        none,
        "F11"},
    Row{Command::PinBaseline,
        "pinBaselineAction",
        QT_TRANSLATE_NOOP("Actions", "Set as &baseline"),
        QT_TRANSLATE_NOOP("Actions", "Outlines the estimate as it stands, to compare with"),
        {},
        none,
        "Ctrl+B"},
    Row{Command::ResetBaseline,
        "resetBaselineAction",
        QT_TRANSLATE_NOOP("Actions", "Baseline from the &files"),
        QT_TRANSLATE_NOOP("Actions", "Outlines what the files say again"),
        {},
        none,
        "Ctrl+Shift+B"},
    Row{Command::RecomputeNone,
        "recomputeNoneAction",
        QT_TRANSLATE_NOOP("Actions", "&None"),
        QT_TRANSLATE_NOOP("Actions", "Keeps all activations"),
        {},
        none,
        "Ctrl+Alt+0"},
    Row{Command::RecomputeSelective,
        "recomputeSelectiveAction",
        QT_TRANSLATE_NOOP("Actions", "&Selective"),
        QT_TRANSLATE_NOOP("Actions", "Recomputes some layers or modules in the backward pass"),
        {},
        none,
        "Ctrl+Alt+1"},
    Row{Command::RecomputeFull,
        "recomputeFullAction",
        QT_TRANSLATE_NOOP("Actions", "&Full"),
        QT_TRANSLATE_NOOP("Actions", "Recomputes every layer in the backward pass"),
        {},
        none,
        "Ctrl+Alt+2"},
    Row{Command::FindFit,
        "findFitAction",
        QT_TRANSLATE_NOOP("Actions", "Find what fi&ts"),
        QT_TRANSLATE_NOOP("Actions", "Lists the smallest changes with which the run fits the GPU"),
        {},
        none,
        "Ctrl+Shift+F"},
    Row{Command::Calibrate,
        "calibrateAction",
        QT_TRANSLATE_NOOP("Actions", "&Calibrate on the log"),
        QT_TRANSLATE_NOOP("Actions", "Corrects the estimate by the peaks that the log shows"),
        {},
        none,
        "Ctrl+Alt+C"},
    Row{Command::SaveCalibration,
        "saveCalibrationAction",
        QT_TRANSLATE_NOOP("Actions", "&Save calibration…"),
        QT_TRANSLATE_NOOP("Actions", "Keeps what the log's peaks say, for other plans"),
        {},
        none,
        "Ctrl+Alt+S"},
    Row{Command::UseCalibration,
        "useCalibrationAction",
        QT_TRANSLATE_NOOP("Actions", "&Use calibration…"),
        QT_TRANSLATE_NOOP("Actions", "Corrects the estimate by a calibration that was saved"),
        {},
        none,
        "Ctrl+Alt+U"},
    Row{Command::RemoveCalibration,
        "removeCalibrationAction",
        QT_TRANSLATE_NOOP("Actions", "&Remove calibration"),
        QT_TRANSLATE_NOOP("Actions", "Goes back to theory's own estimate"),
        {},
        none,
        "Ctrl+Alt+K"},
    Row{Command::ChangeModel,
        "changeModelAction",
        QT_TRANSLATE_NOOP("Actions", "Change &model…"),
        QT_TRANSLATE_NOOP("Actions", "Chooses another model from the list"),
        {},
        none,
        "Ctrl+M"},
    Row{Command::OpenModel,
        "openModelAction",
        QT_TRANSLATE_NOOP("Actions", "Open m&odel file…"),
        QT_TRANSLATE_NOOP("Actions", "Takes the model from a file, such as a config.json of Hugging Face"),
        {},
        none,
        "Ctrl+Shift+O"},
    Row{Command::OtherCapacity,
        "otherCapacityAction",
        QT_TRANSLATE_NOOP("Actions", "Other GPU &capacity…"),
        QT_TRANSLATE_NOOP("Actions", "Sets the memory of one GPU by hand"),
        {},
        none,
        "Ctrl+Alt+G"},
    Row{Command::Shortcuts,
        "shortcutsAction",
        QT_TRANSLATE_NOOP("Actions", "&Shortcuts"),
        QT_TRANSLATE_NOOP("Actions", "Lists all keys"),
        {},
        QKeySequence::HelpContents,
        "Ctrl+?"},
    Row{Command::Licences,
        "licencesAction",
        QT_TRANSLATE_NOOP("Actions", "&Licences"),
        QT_TRANSLATE_NOOP("Actions", "Shows the licences of Headroom and of what it is built with"),
        {},
        none,
        "Shift+F1"},
    Row{Command::AboutQt,
        "aboutQtAction",
        QT_TRANSLATE_NOOP("Actions", "About &Qt"),
        QT_TRANSLATE_NOOP("Actions", "Shows the version of Qt"),
        {},
        none,
        "Ctrl+F1"},
    Row{Command::About,
        "aboutAction",
        QT_TRANSLATE_NOOP("Actions", "&About Headroom"),
        QT_TRANSLATE_NOOP("Actions", "Shows the version of Headroom"),
        {},
        none,
        "Ctrl+Shift+F1"},
};

QList<QKeySequence> shortcutsOf(const Row& row)
{
    QList<QKeySequence> shortcuts;
    if (row.standard != none) {
        shortcuts = QKeySequence::keyBindings(row.standard);
    }
    for (const QString& keys : QString::fromLatin1(row.keys).split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
        const QKeySequence sequence = QKeySequence::fromString(keys, QKeySequence::PortableText);
        if (!shortcuts.contains(sequence)) {
            shortcuts.append(sequence);
        }
    }
    return shortcuts;
}

} // namespace

Actions::Actions(QUndoStack& undoStack, QObject* parent)
    : QObject(parent)
    , m_themes(new QActionGroup(this))
{
    for (const Row& row : rows) {
        auto* action = new QAction(QCoreApplication::translate("Actions", row.text), this);
        action->setObjectName(QString::fromLatin1(row.name));
        action->setIconText(withoutMnemonic(action->text()));
        action->setToolTip(action->iconText());
        action->setStatusTip(QCoreApplication::translate("Actions", row.tip));
        action->setShortcuts(shortcutsOf(row));
        if (row.symbol) {
            action->setIcon(symbolIcon(*row.symbol));
        }
        m_actions[row.command] = action;
    }
    m_actions[Command::Undo] = undoStack.createUndoAction(this, tr("&Undo"));
    m_actions[Command::Undo]->setObjectName(QStringLiteral("undoAction"));
    m_actions[Command::Undo]->setIcon(symbolIcon(Symbol::Undo));
    m_actions[Command::Undo]->setShortcuts(QKeySequence::Undo);
    m_actions[Command::Undo]->setStatusTip(tr("Takes back the last change to the plan"));
    m_actions[Command::Redo] = undoStack.createRedoAction(this, tr("&Redo"));
    m_actions[Command::Redo]->setObjectName(QStringLiteral("redoAction"));
    m_actions[Command::Redo]->setIcon(symbolIcon(Symbol::Redo));
    m_actions[Command::Redo]->setShortcuts(QKeySequence::Redo);
    m_actions[Command::Redo]->setStatusTip(tr("Makes the change again that was taken back"));
    for (const Command theme : {Command::ThemeSystem, Command::ThemeLight, Command::ThemeDark}) {
        m_actions[theme]->setCheckable(true);
        m_themes->addAction(m_actions[theme]);
    }
    for (const Command command : {Command::EnlargeDetails, Command::FullScreen, Command::Follow, Command::Link,
                                  Command::LogScale, Command::Metrics}) {
        m_actions[command]->setCheckable(true);
    }
    // Menu roles matter where the system moves such entries (macOS).
    m_actions[Command::Quit]->setMenuRole(QAction::QuitRole);
    m_actions[Command::About]->setMenuRole(QAction::AboutRole);
    m_actions[Command::AboutQt]->setMenuRole(QAction::AboutQtRole);
}

} // namespace headroom
