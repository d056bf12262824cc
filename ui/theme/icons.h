// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace headroom {

/// The symbols of resources/icons.
enum class Symbol {
    Open,
    Save,
    Export,
    Undo,
    Redo,
    ZoomIn,
    ZoomOut,
    Fit,
    Settings,
    Error,
    Warning,
    Info,
    Ok,
    Drop,
    Reset,
    Copy,
    Enlarge
};

/// A symbol in the theme's colours at the time of painting, at any size; disabled icons are muted. Painted from the
/// path data of the SVG files by ourselves: Qt's SVG plugin need not be installed.
[[nodiscard]] QIcon symbolIcon(Symbol symbol);
/// The same in one colour, whatever the theme.
[[nodiscard]] QIcon symbolIcon(Symbol symbol, const QColor& color);

/// io.github.headroom.Headroom, 16 to 256 px.
[[nodiscard]] QIcon applicationIcon();

} // namespace headroom
