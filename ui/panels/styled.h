// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QFrame;
class QLabel;
class QPushButton;
class QWidget;

namespace headroom {

// The style sheet's dynamic properties (theme.h) by name, so that panels don't spell them.

/// role: "title", "strong", "section" or "muted".
[[nodiscard]] QLabel* makeLabel(const QString& text, const char* role, QWidget* parent = nullptr);
/// Looks like a link, behaves like a button: focus and keys included.
[[nodiscard]] QPushButton* makeLink(const QString& text, QWidget* parent = nullptr);
/// What a panel shows before it has anything: a sentence and the link that starts it, in the middle.
[[nodiscard]] QWidget* makeStart(QLabel* sentence, QPushButton* link, QWidget* parent = nullptr);
[[nodiscard]] QFrame* makeRule(QWidget* parent = nullptr);
/// Sets a property that the style sheet selects by, and restyles when it changed.
void setStyled(QWidget* widget, const char* property, const QString& value);

} // namespace headroom
