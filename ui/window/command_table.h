// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme/icons.h"
#include "window/actions.h"

#include <QKeySequence>

#include <optional>
#include <span>

namespace headroom {

/// A command as its menu shows it; texts are marked for translation in the context "Actions".
struct CommandRow
{
    Command command{};
    const char* name = nullptr; ///< objectName
    const char* text = nullptr;
    const char* tip = nullptr;
    std::optional<Symbol> symbol = {};
    QKeySequence::StandardKey standard = QKeySequence::UnknownKey;
    const char* keys = nullptr; ///< beside the standard ones, separated by "; "
};

/// Every command but undo and redo, which the undo stack makes.
[[nodiscard]] std::span<const CommandRow> commandTable();

} // namespace headroom
