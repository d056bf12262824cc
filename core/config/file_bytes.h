// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units/problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace headroom {

/// The whole of a regular file. It is read, not mapped, so that it may change meanwhile. Fails with a sentence for what
/// can't be opened, is not a regular file or holds more than `limit` bytes.
[[nodiscard]] Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit);

/// The YAML files in a folder in the order of their names, so that the outcome doesn't depend on the disk; none where
/// it can't be read.
[[nodiscard]] std::vector<std::filesystem::path> yamlFiles(const std::filesystem::path& folder);

/// Replaces the file in one step: a temporary file beside it is written, synced and renamed, or removed on failure. A
/// file that is already there keeps its permissions; a symbolic link keeps pointing at its target, which is replaced.
[[nodiscard]] Result<void> writeFileAtomically(const std::filesystem::path& path, const std::string& bytes);

} // namespace headroom
