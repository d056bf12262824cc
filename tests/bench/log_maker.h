// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>

namespace headroom {

/// Writes a log of about `bytes` bytes, the same ones every time: every `one`-th line is a record of the base format
/// (0: none is), the others are what a trainer prints each iteration. Lines end after `bytes`, never before.
void writeLog(const std::filesystem::path& file, std::int64_t bytes, int one);

} // namespace headroom
