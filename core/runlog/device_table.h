// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"
#include "runlog/log_scan.h"

#include <cstdint>
#include <string_view>

namespace headroom {

/// Whether a file that begins like this is what `nvidia-smi --query-gpu=… --format=csv` prints: its first line names
/// the columns, among them the memory that is used.
[[nodiscard]] bool looksLikeDeviceTable(std::string_view head);

/// Its rows as records of what the device is missing, MiB each, whether the values or the header carry the unit. The
/// step is the number of the device's sample, counted from 1, and the rank its index (its place where none is shown).
/// The header may come again; rows without a figure ("[N/A]") are no records.
[[nodiscard]] LogChunk readDeviceTable(ByteSource& source, std::int64_t size, const LineFormats& formats);

} // namespace headroom
