// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "runlog/line_format.h"
#include "runlog/log_scan.h"

#include <cstdint>
#include <string_view>

namespace headroom {

/// The CRC-32C (Castagnoli) of some bytes.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// Whether a file that begins like this is a TensorBoard event file: a record's length with its right checksum.
[[nodiscard]] bool looksLikeEventFile(std::string_view head);

/// The scalars of a TensorBoard event file (tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto).
/// What one step writes becomes one record; its "line" is the number of the event. The tags that mean something are the
/// `values` of the format tensorboard.scalar. A record whose checksum is wrong is a problem and left out; where a
/// length is wrong nothing after it can be found.
[[nodiscard]] LogChunk readEventFile(ByteSource& source, std::int64_t fileSize, const LineFormats& formats,
                                     std::size_t maxProblems);

} // namespace headroom
