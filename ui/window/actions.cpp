// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/actions.h"

#include "theme/icons.h"

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
    Command command;
    const char* name; ///< objectName
    const char* text;
    const char* tip;
    std::optional<Symbol> symbol;
    QKeySequence::StandardKey standard = QKeySequence::UnknownKey;
    const char* keys = nullptr; ///< beside the standard ones, separated by "; "
};

constexpr auto none = QKeySequence::UnknownKey;

#define ROW_TR(text) QT_TRANSLATE_NOOP("Actions", text)

// clang-format off: a table
const std::array rows {
    Row {Command::Open, "openAction", ROW_TR("&Open…"), ROW_TR("Opens logs, configs or a folder with the logs of a run"), Symbol::Open, QKeySequence::Open},
    Row {Command::Close, "closeAction", ROW_TR("&Close"), ROW_TR("Closes the log and the config"), {}, QKeySequence::Close},
    Row {Command::Export, "exportAction", ROW_TR("&Export config…"), ROW_TR("Shows what changed in the config and saves it"), Symbol::Export, QKeySequence::SaveAs, "Ctrl+E"},
    Row {Command::Reload, "reloadAction", ROW_TR("&Reload"), ROW_TR("Reads the open files again; what you turned stays"), {}, QKeySequence::Refresh},
    Row {Command::Quit, "quitAction", ROW_TR("&Quit"), ROW_TR("Leaves Headroom"), {}, none, "Ctrl+Q"},
    Row {Command::CopyVerdict, "copyVerdictAction", ROW_TR("&Copy verdict"), ROW_TR("Copies the verdict as a sentence"), Symbol::Copy, none, "Ctrl+Shift+C"},
    Row {Command::ResetAll, "resetAllAction", ROW_TR("Reset &all"), ROW_TR("Sets every knob back to what the files say"), Symbol::Reset, none, "Ctrl+Backspace"},
    Row {Command::ThemeSystem, "themeSystemAction", ROW_TR("&System"), ROW_TR("Follows the light or dark colours of the desktop"), {}},
    Row {Command::ThemeLight, "themeLightAction", ROW_TR("&Light"), ROW_TR("Light colours"), {}},
    Row {Command::ThemeDark, "themeDarkAction", ROW_TR("&Dark"), ROW_TR("Dark colours"), {}},
    Row {Command::ResetLayout, "resetLayoutAction", ROW_TR("&Reset layout"), ROW_TR("Puts all panels back to where they were at first"), {}},
    Row {Command::ZoomIn, "zoomInAction", ROW_TR("Zoom &in"), ROW_TR("Shows fewer steps"), Symbol::ZoomIn, QKeySequence::ZoomIn, "Ctrl+="},
    Row {Command::ZoomOut, "zoomOutAction", ROW_TR("Zoom &out"), ROW_TR("Shows more steps"), Symbol::ZoomOut, QKeySequence::ZoomOut},
    Row {Command::ZoomFit, "zoomFitAction", ROW_TR("&Whole run"), ROW_TR("Shows all steps"), Symbol::Fit, none, "Ctrl+0"},
    Row {Command::ZoomBack, "zoomBackAction", ROW_TR("&Back"), ROW_TR("Shows the steps that were shown before"), {}, none, "Alt+Left"},
    Row {Command::ZoomForward, "zoomForwardAction", ROW_TR("&Forward"), ROW_TR("Undoes going back"), {}, none, "Alt+Right"},
    Row {Command::FullScreen, "fullScreenAction", ROW_TR("F&ull screen"), ROW_TR("Fills the screen"), {}, none, "F11"},
    Row {Command::PinBaseline, "pinBaselineAction", ROW_TR("Set as &baseline"), ROW_TR("Outlines the estimate as it stands, to compare with"), {}, none, "Ctrl+B"},
    Row {Command::ResetBaseline, "resetBaselineAction", ROW_TR("Baseline from the &files"), ROW_TR("Outlines what the files say again"), {}, none, "Ctrl+Shift+B"},
    Row {Command::RecomputeNone, "recomputeNoneAction", ROW_TR("&None"), ROW_TR("Keeps all activations"), {}},
    Row {Command::RecomputeSelective, "recomputeSelectiveAction", ROW_TR("&Selective"), ROW_TR("Recomputes some layers or modules in the backward pass"), {}},
    Row {Command::RecomputeFull, "recomputeFullAction", ROW_TR("&Full"), ROW_TR("Recomputes every layer in the backward pass"), {}},
    Row {Command::ChangeModel, "changeModelAction", ROW_TR("Change &model…"), ROW_TR("Chooses another model from the list"), {}, none, "Ctrl+M"},
    Row {Command::OpenModel, "openModelAction", ROW_TR("Open m&odel file…"), ROW_TR("Takes the model from a file, such as a config.json of Hugging Face"), {}},
    Row {Command::OtherCapacity, "otherCapacityAction", ROW_TR("Other GPU &capacity…"), ROW_TR("Sets the memory of one GPU by hand"), {}},
    Row {Command::Shortcuts, "shortcutsAction", ROW_TR("&Shortcuts"), ROW_TR("Lists all keys"), {}, QKeySequence::HelpContents, "Ctrl+?"},
    Row {Command::Licences, "licencesAction", ROW_TR("&Licences"), ROW_TR("Shows the licences of Headroom and of what it is built with"), {}},
    Row {Command::AboutQt, "aboutQtAction", ROW_TR("About &Qt"), ROW_TR("Shows the version of Qt"), {}},
    Row {Command::About, "aboutAction", ROW_TR("&About Headroom"), ROW_TR("Shows the version of Headroom"), {}},
};
// clang-format on

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
    m_actions[Command::FullScreen]->setCheckable(true);
    // Menu roles matter where the system moves such entries (macOS).
    m_actions[Command::Quit]->setMenuRole(QAction::QuitRole);
    m_actions[Command::About]->setMenuRole(QAction::AboutRole);
    m_actions[Command::AboutQt]->setMenuRole(QAction::AboutQtRole);
}

} // namespace headroom
