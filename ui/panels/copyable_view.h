// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QAbstractItemView;

namespace headroom {

/// The chosen rows (all, where none is chosen) as tab-separated text with a header line.
[[nodiscard]] QString tabSeparated(const QAbstractItemView& view);

/// Ctrl+C and a context menu that copy the view as tab-separated text.
void makeCopyable(QAbstractItemView& view);

} // namespace headroom
