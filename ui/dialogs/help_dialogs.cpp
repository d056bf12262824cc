// SPDX-License-Identifier: GPL-3.0-or-later
#include "dialogs/help_dialogs.h"

#include "panels/styled.h"
#include "theme/icons.h"

#include "workspace/wording.h"

#include <QAction>
#include <QApplication>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QFontDatabase>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace headroom {
namespace {

class Words
{
    Q_DECLARE_TR_FUNCTIONS(HelpDialogs)
};

QDialog* makeDialog(const QString& title, const QString& name, QWidget* content, QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(name);
    dialog->setWindowTitle(title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(content);
    layout->addWidget(buttons);
    return dialog;
}

struct Keys
{
    QString keys;
    QString does;
};

QList<Keys> chartKeys()
{
    return {{Words::tr("Left, Right"), Words::tr("Charts: moves the cursor by a step, or to the next stage")},
            {Words::tr("Shift+Left, Shift+Right"), Words::tr("Peaks: moves the cursor by ten steps")},
            {Words::tr("+, −"), Words::tr("Peaks: zooms in and out")},
            {Words::tr("Home"), Words::tr("Peaks: shows the whole run")},
            {Words::tr("Backspace"), Words::tr("Peaks: goes back to the steps shown before")},
            {Words::tr("Wheel"), Words::tr("Peaks: zooms around the pointer")},
            {Words::tr("P"), Words::tr("Training step: moves the cursor to the peak")},
            {Words::tr("Ctrl+Left, Ctrl+Right"), Words::tr("Training step: moves the cursor by a pass")},
            {Words::tr("Shift+drag"), Words::tr("Peaks: zooms to what is framed")}};
}

QList<Keys> knobKeys()
{
    return {{Words::tr("Left, Right"), Words::tr("Knobs: the next smaller or larger value that is possible")},
            {Words::tr("Page Up, Page Down"), Words::tr("Knobs: larger steps")},
            {Words::tr("Home, End"), Words::tr("Knobs: the smallest or largest value")},
            {Words::tr("Backspace"), Words::tr("Knobs: back to what the files say; so does a double-click")},
            {Words::tr("Escape"), Words::tr("Knobs: drops what was typed")}};
}

} // namespace

QDialog* makeShortcutsDialog(const QList<QAction*>& actions, QWidget* parent)
{
    auto* list = new QTreeWidget;
    list->setHeaderLabels({Words::tr("Keys"), Words::tr("What they do")});
    list->setRootIsDecorated(false);
    list->setAlternatingRowColors(true);
    for (const QAction* action : actions) {
        if (!action->shortcuts().isEmpty()) {
            list->addTopLevelItem(new QTreeWidgetItem(
                {QKeySequence::listToString(action->shortcuts(), QKeySequence::NativeText),
                 QStringLiteral("%1: %2").arg(withoutMnemonic(action->text()), action->statusTip())}));
        }
    }
    for (const QList<Keys>& group : {chartKeys(), knobKeys()}) {
        for (const Keys& entry : group) {
            list->addTopLevelItem(new QTreeWidgetItem({entry.keys, entry.does}));
        }
    }
    list->resizeColumnToContents(0);
    QDialog* dialog = makeDialog(Words::tr("Shortcuts"), QStringLiteral("shortcutsDialog"), list, parent);
    dialog->resize(dialog->fontMetrics().averageCharWidth() * 140, dialog->fontMetrics().height() * 38);
    return dialog;
}

QDialog* makeLicencesDialog(QWidget* parent)
{
    QString text = Words::tr(
        "Headroom is free software under the GNU General Public License, version 3 or later, printed below.\n\n"
        "It is built with:\n"
        "  Qt, GNU Lesser General Public License 3\n"
        "  QCustomPlot by Emanuel Eichhammer, GNU General Public License 3 or later\n"
        "  yaml-cpp by Jesse Beder, MIT licence\n"
        "  {fmt} by Victor Zverovich and contributors, MIT licence\n"
        "  tl::expected by Sy Brand, CC0\n");
    QFile licence(QStringLiteral(":/licence/LICENSE"));
    if (licence.open(QIODevice::ReadOnly)) {
        text += QStringLiteral("\n\n") + QString::fromUtf8(licence.readAll());
    }
    auto* view = new QPlainTextEdit(text);
    view->setReadOnly(true);
    view->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    QDialog* dialog = makeDialog(Words::tr("Licences"), QStringLiteral("licencesDialog"), view, parent);
    dialog->resize(dialog->fontMetrics().averageCharWidth() * 100, dialog->fontMetrics().height() * 34);
    return dialog;
}

QDialog* makeAboutDialog(QWidget* parent)
{
    constexpr int iconSize = 64;
    auto* content = new QWidget;
    auto* layout = new QVBoxLayout(content);
    auto* icon = new QLabel;
    icon->setPixmap(applicationIcon().pixmap(iconSize, iconSize));
    icon->setAlignment(Qt::AlignCenter);
    layout->addWidget(icon);
    QLabel* name = makeLabel(QStringLiteral("Headroom %1").arg(QApplication::applicationVersion()), "title");
    name->setAlignment(Qt::AlignCenter);
    layout->addWidget(name);
    QLabel* text = makeLabel(
        Words::tr("Explorer for the GPU memory of training runs.\nWhere is the peak, why is it there, and what is "
                  "the smallest change that fits?"),
        "muted");
    text->setAlignment(Qt::AlignCenter);
    layout->addWidget(text);
    return makeDialog(Words::tr("About Headroom"), QStringLiteral("aboutDialog"), content, parent);
}

} // namespace headroom
