// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan/vocabulary.h"
#include "units/problem.h"

#include <QColor>

#include <array>
#include <cstddef>

class QApplication;

namespace headroom {

enum class ThemeChoice { System, Light, Dark };

/// Colours of a sentence with a meaning: its text and border, a stronger mark (bar, icon), a tinted background.
struct Tone
{
    QColor text;
    QColor mark;
    QColor background;
    QColor border;
};

/// Every colour of the window. The only place with colour literals; widgets that paint themselves read current() in
/// paintEvent or on QEvent::PaletteChange.
///
/// The application style sheet (headroom.qss) also knows these dynamic properties:
///   QFrame      card=true; tone="error|warning|note|ok" (a card's left bar), banner="error|warning|note|ok"
///   QLabel      role="title|muted|section|strong"
///   QPushButton role="primary|mend|link"; QToolButton segment=true (one of a row of choices)
struct Theme
{
    bool isDark = false;

    QColor window; ///< behind everything, chart backgrounds too
    QColor raised; ///< buttons, status bar, read-only boxes
    QColor hovered; ///< raised under the pointer
    QColor field; ///< text entry
    QColor text;
    QColor mutedText;
    QColor border;
    QColor grid; ///< chart grid lines
    QColor accent; ///< links, chosen things, focus
    QColor onAccent; ///< text on accent
    QColor selection; ///< accent tint behind text and over the overview strip

    Tone ok, warning, error, note;

    QColor capacity; ///< the capacity line, and totals above it
    QColor reserved; ///< the reserved line and the baseline's outline
    std::array<QColor, 8> phases; ///< forward, backward, optimizer, then phases of other names
    std::array<QColor, componentCount> components; ///< in stacking order

    [[nodiscard]] QColor phase(std::size_t index) const { return phases[index % phases.size()]; }
    [[nodiscard]] QColor component(Component which) const { return components[static_cast<std::size_t>(which)]; }
    [[nodiscard]] const Tone& tone(Severity severity) const;

    [[nodiscard]] static const Theme& light();
    [[nodiscard]] static const Theme& dark();
    /// The one applied last; light before that.
    [[nodiscard]] static const Theme& current();
};

/// Fusion, palette and style sheet. System follows the lightness of the desktop's palette (Qt 6.4 has no colour scheme
/// to ask), also when the desktop changes it later.
void applyTheme(QApplication& application, ThemeChoice choice);
[[nodiscard]] ThemeChoice themeChoice();

/// WCAG 2.1 contrast ratio of two opaque colours, 1 to 21.
[[nodiscard]] double contrastRatio(const QColor& a, const QColor& b);

} // namespace headroom
