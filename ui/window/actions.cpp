// SPDX-License-Identifier: GPL-3.0-or-later
#include "window/actions.h"

#include "theme/icons.h"
#include "window/command_table.h"
#include "workspace/wording.h"

#include <QAction>
#include <QActionGroup>
#include <QCoreApplication>
#include <QUndoStack>

namespace headroom {
namespace {

QList<QKeySequence> shortcutsOf(const CommandRow& row)
{
    QList<QKeySequence> shortcuts;
    if (row.standard != QKeySequence::UnknownKey) {
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
    for (const CommandRow& row : commandTable()) {
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
    m_actions[Command::Undo]->setStatusTip(tr("Takes back the last change to the plan or to the history of runs"));
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
