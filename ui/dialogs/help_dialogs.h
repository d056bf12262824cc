// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>

class QAction;
class QDialog;
class QWidget;

namespace headroom {

/// All keys: those of the commands, then those of charts and knobs. Deletes itself when closed.
[[nodiscard]] QDialog* makeShortcutsDialog(const QList<QAction*>& actions, QWidget* parent);
/// The licence of Headroom in full and those of the libraries by name.
[[nodiscard]] QDialog* makeLicencesDialog(QWidget* parent);
[[nodiscard]] QDialog* makeAboutDialog(QWidget* parent);

} // namespace headroom
