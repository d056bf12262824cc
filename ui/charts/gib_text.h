// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/bytes.h"

#include <QString>

namespace headroom {

/// "31.25 GiB", "512.0 MiB" as the user's locale writes numbers; the smaller unit below 1 GiB. Charts read it beside
/// formatBytes() of core, which is for files and terminals.
[[nodiscard]] QString bytesText(Bytes bytes, int decimals = 2);
/// The number alone, in GiB.
[[nodiscard]] QString gibNumber(Bytes bytes, int decimals = 1);
/// "+3.40 GiB", "−512.0 MiB", "±0 B".
[[nodiscard]] QString differenceText(Bytes difference, int decimals = 2);
[[nodiscard]] QString countText(qint64 count);

} // namespace headroom
